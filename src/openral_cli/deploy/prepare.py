"""Checks before a deployment starts: licences, weights on this machine, and enough memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from openral_control.motions import motion_name
from openral_core.cli.downloads import download_bars
from openral_core.errors import ManifestError, OpenralError
from openral_core.files.output_folder import check_folder
from openral_core.process.launched_deployment import LAUNCH_LOG
from openral_core.scene import DeployScene
from openral_rskill.checks.package import is_known
from openral_rskill.hub.install import ready
from openral_rskill.registry import resolve
from openral_rskill.vram import budget, require_budget


def check_run_folder(folder: Path) -> None:
    """Check that a run's folder can be written and has no launch log, which every run leaves.

    Raises:
        OpenralError: it cannot be written, or holds a run already.
    """
    if (folder / LAUNCH_LOG).exists():
        raise OpenralError(f"{folder} holds a run already; name another --run-dir")
    check_folder(folder, "run folder")


def prepare(console: Console, scene: DeployScene, arguments: Mapping[str, str]) -> tuple[str, ...]:
    """Check what concerns a whole deployment, and download weights that are missing.

    Args:
        console: shows the downloads.
        scene: what is deployed.
        arguments: of the launch file; `device`, `allow_unevaluated`, `enable_reward_monitor` and `exit_when_done` are
            read.

    Returns:
        The skills that were evaluated on none of the scene's tasks, if `allow_unevaluated` is set; else an empty tuple,
        since their nodes refuse to start.

    Raises:
        ManifestError: the scene deploys no skill and the launch ends with its mission, or a motion does not exist.
        LicenseError: a skill's terms were not accepted.
        ContractError: the skills and the reward model do not fit into the device's memory together.
        OpenralError: a skill cannot be found or fetched.
    """
    if not scene.skills and arguments.get("exit_when_done") == "true":
        raise ManifestError(_no_skills(scene))
    _require_motions(scene)
    refs = list(scene.skills)
    if scene.reward_skill and arguments.get("enable_reward_monitor", "true") == "true":
        refs.append(scene.reward_skill)
    with download_bars(console) as progress:
        packages = [ready(ref, progress=progress) for ref in refs]
    require_budget(budget(packages, arguments.get("device", "cpu")))
    if arguments.get("allow_unevaluated") != "true":
        return ()
    return tuple(p.manifest.name for p in packages if not is_known(p.manifest, scene))


def _require_motions(scene: DeployScene) -> None:
    """Check that every motion of the scene exists, before an arm is connected. Raises OpenralError: one does not."""
    for index, ref in enumerate(scene.motions):
        try:
            motion_name(resolve(ref).manifest)
        except OpenralError as error:
            what, _, fix = str(error).partition("; ")
            if scene.source is None:
                raise
            raise ManifestError(
                scene.source.fault(("motions", index), what, fix or "name another")
            ) from error


def _no_skills(scene: DeployScene) -> str:
    what = f"{scene.scene.id} deploys none, so no mission can be done"
    fix = "write `skills: [name or folder of one]`, or --keep-alive and start its node yourself"
    if scene.motions:
        fix += "; its motions take orders then, such as `openral prompt 'go home'`"
    return scene.source.fault(("skills",), what, fix) if scene.source else f"skills: {what}; {fix}"
