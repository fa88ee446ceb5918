"""The gate of benchmarks: what a skill saw in training proves nothing about it."""

from __future__ import annotations

from collections.abc import Sequence

from openral_core.manifest import RSkillManifest
from openral_core.scene import SimScene
from openral_rskill.checks.finding import Finding
from openral_rskill.license import is_evaluated


def unseen_states(manifest: RSkillManifest, scene: SimScene, init_ids: Sequence[int]) -> Finding:
    """None of the initial states may be one that the skill's manifest says training saw.

    Args:
        manifest: the skill; a manifest that states nothing passes.
        scene: its task is the one that is judged.
        init_ids: those that are to be run.
    """
    task = scene.task
    seen = [
        states
        for entry, states in manifest.trained_init_ids.items()
        if is_evaluated([entry], task.id, task.scene_id)
    ]
    overlap = sorted({init_id for states in seen for init_id in states.ids()} & set(init_ids))
    shown = ", ".join(map(str, overlap[:3])) + (", …" if len(overlap) > 3 else "")
    found = f"{task.id}: trained on {shown}" if overlap else f"{task.id}: {min(init_ids)} to {max(init_ids)}"
    needed = (
        f"none of {' and '.join(map(str, seen))}" if seen else "any (the manifest states none of training)"
    )
    fix = "judge it on a suite that holds these states out"
    return Finding.of("initial states", not overlap, found, needed, fix)
