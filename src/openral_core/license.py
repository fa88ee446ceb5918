"""The licence gate and the gate of evaluated tasks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from openral_core.errors import LicenseError
from openral_core.manifest import RSkillManifest

OPT_IN = "OPENRAL_ACCEPT_NONCOMMERCIAL"


def check_license(
    manifest: RSkillManifest,
    *,
    accept_noncommercial: bool | None = None,
    environment: Mapping[str, str] = os.environ,
) -> None:
    """Refuse weights that may not be used commercially, unless their terms were accepted.

    Call it before anything of the weights is downloaded or opened. A licence that is proprietary or unknown
    is refused like a non-commercial one: nothing says that it allows anything.

    Args:
        manifest: the skill.
        accept_noncommercial: the operator's decision; None: ask the environment for OPT_IN = 1.
        environment: the process's variables.

    Raises:
        LicenseError: refused; the text says how to accept.
    """
    if manifest.is_commercial_use_allowed:
        return
    accepted = environment.get(OPT_IN) == "1" if accept_noncommercial is None else accept_noncommercial
    if not accepted:
        raise LicenseError(
            f"{manifest.name}: licence '{manifest.license}' does not allow commercial use; "
            f"if your use is non-commercial and its terms are met, set {OPT_IN}=1"
        )


def is_evaluated(evaluated_tasks: Sequence[str], task_id: str, scene_id: str) -> bool:
    """Whether a skill was evaluated on a task.

    An entry is a task id, a family of them (`metaworld` covers `metaworld/drawer-open-v3`) or a scene id.
    Without any entry nothing is known, and nothing is refused.
    """
    if not evaluated_tasks:
        return True
    return any(
        task_id == entry or task_id.startswith(f"{entry}/") or scene_id == entry for entry in evaluated_tasks
    )
