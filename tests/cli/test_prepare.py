"""Before a deployment starts: licences, memory of all skills together, and what was allowed by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rich.console import Console

from openral_cli.deploy.prepare import prepare
from openral_core.errors import ContractError, HubError, LicenseError, ManifestError, NotFoundError
from openral_core.scene import load_scene
from openral_rskill import vram
from openral_rskill.registry import resolve

RLDX = ("rldx1-ft-libero-nf4",)


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No hub, an empty cache, no acceptance."""
    for name in ("OPENRAL_ACCEPT_NONCOMMERCIAL", "OPENRAL_ALLOW_NONCOMMERCIAL", "OPENRAL_RLDX_AUTO_SPAWN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_skills_that_are_here_pass() -> None:
    scene = load_scene("metaworld_drawer")
    assert prepare(Console(), scene, {}) == ()
    assert prepare(Console(), scene, {"allow_unevaluated": "true"}) == ()


def test_what_was_allowed_is_named() -> None:
    scene = load_scene("metaworld_drawer")
    world = scene.scene.model_copy(update={"id": "moon", "backend_options": {}})
    elsewhere = scene.model_copy(update={"scene": world, "reward_skill": None})
    assert prepare(Console(), elsewhere, {}) == ()
    assert prepare(Console(), elsewhere, {"allow_unevaluated": "true"}) == ("openral/rskill-mini-metaworld",)


def test_a_scene_without_skills_is_refused_unless_somebody_stays() -> None:
    scene = load_scene("tabletop_panda")
    with pytest.raises(
        ManifestError, match=r"tabletop_panda.yaml:2: skills: tabletop_panda deploys none.*--keep"
    ):
        prepare(Console(), scene, {"exit_when_done": "true"})
    assert prepare(Console(), scene, {"exit_when_done": "false"}) == ()


def test_a_motion_that_does_not_exist_is_refused_with_its_line() -> None:
    scene = load_scene("fr3_tabletop")
    wrong = scene.model_copy(update={"motions": (scene.motions[0], "rskill://rskills/motion-nudgee")})
    with pytest.raises(ManifestError, match=r"fr3_tabletop\.yaml:\d+: motions\[1\]: .*motion-nudgee"):
        prepare(Console(), wrong, {})
    assert prepare(Console(), scene, {}) == ()


def test_a_licence_is_asked_before_anything_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = load_scene("metaworld_drawer").model_copy(update={"skills": RLDX})
    with pytest.raises(LicenseError, match="OPENRAL_ACCEPT_NONCOMMERCIAL=1"):
        prepare(Console(), scene, {})
    monkeypatch.setenv("OPENRAL_ACCEPT_NONCOMMERCIAL", "1")
    with pytest.raises(HubError, match="HF_HUB_OFFLINE"):
        prepare(Console(), scene, {})
    missing = scene.model_copy(update={"skills": ("no-such-skill",)})
    with pytest.raises(NotFoundError):
        prepare(Console(), missing, {})


@pytest.fixture
def heavy(tmp_path: Path) -> str:
    """A skill that asks for 7 GB."""
    folder = tmp_path / "heavy"
    shutil.copytree(resolve("mini-metaworld").folder, folder)
    with (folder / "rskill.yaml").open("a") as file:
        file.write("min_vram_gb: {bf16: 7.0}\n")
    return str(folder)


def test_all_skills_must_fit_into_memory_together(monkeypatch: pytest.MonkeyPatch, heavy: str) -> None:
    scene = load_scene("metaworld_drawer").model_copy(update={"skills": (heavy, heavy), "reward_skill": None})
    monkeypatch.setattr(vram, "free_gb", lambda index: 16.0)
    with pytest.raises(ContractError, match=r"16\.0 GB free on cuda, needed 16\.1 GB \(mini-metaworld 7 \+"):
        prepare(Console(), scene, {"device": "cuda"})
    prepare(Console(), scene, {"device": "cpu"})
    judged = scene.model_copy(update={"skills": ("mini-metaworld",), "reward_skill": heavy})
    prepare(Console(), judged, {"device": "cuda"})
    monkeypatch.setattr(vram, "free_gb", lambda index: 7.0)
    with pytest.raises(ContractError, match="accelerator memory"):
        prepare(Console(), judged, {"device": "cuda"})
    prepare(Console(), judged, {"device": "cuda", "enable_reward_monitor": "false"})


def test_a_server_that_runs_already_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENRAL_ACCEPT_NONCOMMERCIAL", "1")
    monkeypatch.setenv("OPENRAL_RLDX_AUTO_SPAWN", "0")
    scene = load_scene("metaworld_drawer").model_copy(update={"skills": RLDX, "reward_skill": None})
    monkeypatch.setattr(vram, "free_gb", lambda index: 1.0)
    prepare(Console(), scene, {"device": "cuda"})
