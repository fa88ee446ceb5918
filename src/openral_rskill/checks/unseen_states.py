"""The gate of benchmarks that excludes initial states from a skill's training."""

from __future__ import annotations

from collections.abc import Sequence

from openral_core.manifest import RSkillManifest
from openral_core.scene import SimScene
from openral_rskill.checks.finding import Finding
from openral_rskill.license import is_evaluated


def unseen_states(manifest: RSkillManifest, scene: SimScene, init_ids: Sequence[int]) -> Finding:
    """Check that none of the initial states was used in training, as far as the skill's manifest states.

    Args:
        manifest: of the skill; one without `trained_init_ids` passes.
        scene: with the task that is evaluated.
        init_ids: initial states of the evaluation.
    """
    task = scene.task
    seen = [
        states
        for entry, states in manifest.trained_init_ids.items()
        if is_evaluated([entry], task.id, task.scene_id)
    ]
    overlap = sorted(i for i in set(init_ids) if any(i in states.ids() for states in seen))
    shown = ", ".join(map(str, overlap[:3])) + (", …" if len(overlap) > 3 else "")
    found = f"{task.id}: trained on {shown}" if overlap else f"{task.id}: {min(init_ids)} to {max(init_ids)}"
    needed = (
        f"none of {' and '.join(map(str, seen))}" if seen else "any (the manifest states none of training)"
    )
    fix = "judge it on a suite that holds these states out"
    return Finding.of("initial states", not overlap, found, needed, fix)
