"""Gates for a skill's actions: the action vector, its rate, and whether inference keeps up with the rate."""

from __future__ import annotations

from collections.abc import Iterator

from openral_core.manifest import RSkillManifest
from openral_core.scene import DeployScene
from openral_rskill.checks.finding import Finding

ANOTHER_UNIT = 9.0
"""Ratio of two values of step_m from which one is assumed to be in another unit, such as cm.

Actions are scaled by the ratio, which is at most five among the scenes and skills of openral."""


def action(manifest: RSkillManifest, scene: DeployScene) -> Iterator[Finding]:
    """Check that the length, the representation and the unit of actions agree with the scene."""
    offered, demanded = scene.action, manifest.action_contract
    if demanded is None:
        yield Finding("action", False, "no action_contract", f"{offered.dim} numbers", "add action_contract")
        return
    fix = "choose a scene with that action contract, or a skill trained for this one"
    yield Finding.of("action dim", offered.dim == demanded.dim, str(offered.dim), str(demanded.dim), fix)
    needed = demanded.representation or "not stated"
    ok = demanded.representation in (None, offered.representation)
    yield Finding.of("action representation", ok, offered.representation, needed, fix)
    if offered.step_m is not None and demanded.step_m is not None:
        ratio = max(demanded.step_m / offered.step_m, offered.step_m / demanded.step_m)
        fix = "write step_m in metres: how far the hand goes by a command of 1, in the demonstrations or in the scene"
        found, wanted = (f"{step:g} m by a command of 1" for step in (offered.step_m, demanded.step_m))
        yield Finding.of("action step", ratio < ANOTHER_UNIT, found, wanted, fix)


def rate(manifest: RSkillManifest, scene: DeployScene, lockstep: bool) -> Iterator[Finding]:
    """Check that the scene has the control rate of the demonstrations, and that a chunk lasts longer than an inference.

    The latter is not needed in lockstep, where the world waits.
    """
    trained = manifest.action_contract.control_hz if manifest.action_contract else None
    if trained is not None:
        ok = abs(trained - scene.control_hz) <= 0.01 * trained
        fix = f"set control_hz of the scene to {trained:g}"
        yield Finding.of("control rate", ok, f"{scene.control_hz:g} Hz", f"{trained:g} Hz", fix)
    covered_ms = 1000.0 * manifest.chunk_size * scene.dt
    budget_ms = manifest.latency_budget.per_chunk_ms
    found = f"{budget_ms:g} ms an inference"
    needed = f"less than {covered_ms:g} ms ({manifest.chunk_size} steps at {scene.control_hz:g} Hz)"
    fix = "the arm would hold more than it moves: use lockstep, a faster device or a longer chunk"
    yield Finding.of("latency", lockstep or budget_ms < covered_ms, found, needed, fix)
