"""The skills that are there now: the palette is made anew only when what it is made of changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from openral.msg import SkillInfo

from openral_reasoner.deployment import Deployment
from openral_reasoner.ros.skill_registry import SkillRegistry

NOW = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=1))


def info(name: str, *, active: bool = True) -> SkillInfo:
    return SkillInfo(
        name=f"me/rskill-{name}",
        slug=name,
        kind="vla",
        node=f"/openral/{name}",
        action_server=f"/openral/skills/{name}/execute",
        active=active,
        commercial_use=True,
        embodiment_tags=["sawyer"],
        tasks=["open"],
        examples=["open it"],
    )


def test_the_palette_is_the_same_until_an_announcement_says_something_else() -> None:
    node: Any = SimpleNamespace(get_clock=lambda: NOW)
    registry = SkillRegistry(
        node, Deployment(embodiment_tags=("sawyer",)), commercial=True, await_monitor=False, patience_s=5.0
    )
    assert registry.palette().skills == ()
    registry.announce(info("drawer"), 0.0)
    first = registry.palette()
    assert [skill.slug for skill in first.skills] == ["drawer"]
    registry.announce(info("drawer"), 1.0)
    assert registry.palette() is first
    registry.announce(info("drawer", active=False), 2.0)
    assert registry.palette().skills == ()
    assert list(registry.palette().excluded) == ["me/rskill-drawer"]
    registry.announce(info("drawer"), 3.0)
    registry.announce(info("door"), 3.0)
    assert [skill.slug for skill in registry.palette().skills] == ["door", "drawer"]
    lost_node: Any = SimpleNamespace(get_clock=lambda: NOW, get_node_names_and_namespaces=lambda: [])
    registry._node = lost_node
    assert len(registry.take_lost(60.0)) == 2
    assert registry.palette().skills == ()
