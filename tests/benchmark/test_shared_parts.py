"""Models that the harnesses of a process share are on the device that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from openral_benchmark.harness import shared_resources
from openral_benchmark.harness.shared_resources import SharedParts
from openral_rskill.registry import RSkillPackage


@pytest.mark.parametrize(
    ("loader", "method"), [("load_policy", "policy"), ("load_reward_model", "reward_model")]
)
def test_each_is_loaded_once_and_there(
    loader: str, method: str, manifest: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def load(package: RSkillPackage, device: str = "cpu") -> object:
        loaded.append(device)
        return object()

    monkeypatch.setattr(shared_resources, loader, load)
    parts, package = SharedParts("cuda:1"), RSkillPackage(manifest(), Path("skill"))
    first = getattr(parts, method)(package)
    assert getattr(parts, method)(package) is first
    assert loaded == ["cuda:1"]
