"""The memory budget: everything that runs together, before anything loads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from openral_core.errors import ContractError, UsageError
from openral_core.manifest import RSkillManifest
from openral_rskill import vram
from openral_rskill.peak_memory import robot_gb
from openral_rskill.registry import RSkillPackage, resolve
from openral_rskill.vram import budget, free_gb, require_budget

Make = Callable[..., RSkillPackage]
INT4 = {"quantization": {"dtype": "int4"}, "min_vram_gb": {"bf16": 18.0, "int4": 7.0}}


@pytest.fixture
def skill(manifest: Callable[..., RSkillManifest], tmp_path: Path) -> Make:
    """Make a skill in an empty folder that differs from the example in the given fields."""
    return lambda **changes: RSkillPackage(manifest(**changes), tmp_path)


def probe(free: float | None) -> Callable[[int], float | None]:
    return lambda index: free


def test_needs_and_margin_are_added_up(skill: Make) -> None:
    skills = [
        skill(**INT4),
        skill(name="a/rskill-judge", quantization={"dtype": "int4"}, min_vram_gb={"int4": 3.6}),
    ]
    found = budget(skills, "cuda", probe(12.71))
    assert found.needed_gb == pytest.approx(7.0 + 3.6 + 2 * vram.CONTEXT_GB + vram.MARGIN_GB)
    assert found.fits
    require_budget(found)
    tight = budget(skills, "cuda:0", probe(12.6))
    with pytest.raises(
        ContractError,
        match=r"12\.6 GB free on cuda:0, needed 12\.7 GB "
        r"\(example 7 \+ judge 3\.6 \+ 2 x 0\.8 of CUDA \+ margin 0\.5\)",
    ):
        require_budget(tight)


def test_every_robot_of_a_batch_is_counted() -> None:
    policy = resolve("smolvla-metaworld")
    one, eight = (budget([policy], "cuda", probe(2.5), robots=robots) for robots in (1, 8))
    a_robot = robot_gb(policy.manifest)
    assert a_robot is not None
    assert a_robot > 0.05
    assert eight.needed_gb == pytest.approx(one.needed_gb + 7 * a_robot)
    assert one.fits
    assert "robots" not in one.needed + one.fix
    with pytest.raises(
        ContractError, match=r"smolvla-metaworld [\d.]+ for 8 robots .* write less than --num-envs 8"
    ):
        require_budget(eight)


def test_the_number_format_decides(skill: Make) -> None:
    wide = budget([skill(**{**INT4, "quantization": {"dtype": "bf16"}})], "cuda", probe(18.0))
    assert not wide.fits
    assert wide.fix.split(", ")[1] == (
        "write quantization.dtype: int4 into example's rskill.yaml (7 in place of 18 GB)"
    )
    assert "quantization" not in budget([skill(**INT4)], "cuda", probe(1.0)).fix
    unknown = budget([skill(**{**INT4, "quantization": {"dtype": "fp16"}})], "cuda", probe(1.3))
    assert unknown.fits
    assert "example not stated for fp16" in unknown.needed


def test_weights_on_this_machine_count_at_least(skill: Make, tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.touch()
    os.truncate(weights, 2_000_000_000)  # a hole: it takes no space
    found = budget([skill()], "cuda", probe(3.1))
    assert not found.fits
    assert "example 2 for its weights alone" in found.needed


def test_a_cpu_has_no_budget(skill: Make) -> None:
    found = budget([skill(**INT4)], "cpu", probe(None))
    require_budget(found)
    assert found.found.startswith("cpu")


def test_a_device_that_cannot_be_asked_fits_nothing(skill: Make) -> None:
    with pytest.raises(ContractError, match=r"no cuda:3, needed .*--device cpu"):
        require_budget(budget([skill(**INT4)], "cuda:3", probe(None)))
    for device in ("tpu", "cuda:x", "cuda:-1", "cuda:", "cuda:\u0663", ""):
        with pytest.raises(UsageError, match="is not known"):
            budget([], device, probe(1.0))


def test_free_memory_is_asked_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\necho 7812\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert free_gb(0, {}) == pytest.approx(7812 * 1024**2 / 1e9)
    assert free_gb(1, {"CUDA_VISIBLE_DEVICES": "3,5"}) is not None
    assert free_gb(2, {"CUDA_VISIBLE_DEVICES": "3,5"}) is None
    assert free_gb(1, {"CUDA_VISIBLE_DEVICES": "0,-1,2"}) is None
    for hidden in ("", " ", "-1", "-1,0"):
        assert free_gb(0, {"CUDA_VISIBLE_DEVICES": hidden}) is None
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[0] for line in asked] == ["--id=0", "--id=5"]
    tool.write_text("#!/bin/sh\necho no devices were found\nexit 6\n")
    monkeypatch.setattr(vram, "_free_by_torch", lambda index: None)
    assert free_gb(0, {}) is None
