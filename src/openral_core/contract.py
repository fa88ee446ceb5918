"""Does a skill fit a robot in a scene? One row a gate, each with its mend, before anything is loaded."""

from __future__ import annotations

from pathlib import Path

from openral_core.gates import Finding, body, motion, package, require, senses
from openral_core.manifest import RSkillManifest
from openral_core.registry import RSkillPackage
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene

__all__ = ["Finding", "match", "package_findings", "require"]


def match(
    manifest: RSkillManifest, robot: RobotDescription, scene: DeployScene, *, folder: Path | None = None,
    accept_noncommercial: bool | None = None, lockstep: bool = False, task: str = "", allow_unevaluated: bool = False,
) -> list[Finding]:  # fmt: skip
    """Compare a skill's demands with what a robot and a scene offer.

    Args:
        manifest: the skill.
        robot: the scene's robot.
        scene: where it is to run.
        folder: the skill's folder; with it, the weights are looked at, too.
        accept_noncommercial: see `openral_core.license.check_license`.
        lockstep: the world waits for the policy, so that an inference may take longer than its chunk.
        task: the one task of the scene that is to be done; empty: any.
        allow_unevaluated: run it although it was not evaluated on that task; whoever sets it writes it into the
            result of the run.

    Returns:
        One finding a gate, all gates, in a fixed order.
    """
    findings = [body.embodiment(manifest, robot), *body.capabilities(manifest, robot)]
    findings += senses.cameras(manifest, scene)
    if manifest.kind == "vla":
        findings += body.control_mode(manifest, robot, scene)
        findings += [senses.state(manifest), *body.bindings(manifest, robot)]
        findings += [*motion.action(manifest, scene), *motion.rate(manifest, scene, lockstep)]
        findings += [*body.starting_pose(manifest, robot), *body.envelope(manifest, robot, scene)]
    findings += package_findings(manifest, folder=folder, accept_noncommercial=accept_noncommercial)
    findings.append(package.tasks(manifest, scene, task, allow_unevaluated))
    return findings


def package_findings(
    manifest: RSkillManifest, *, folder: Path | None = None, accept_noncommercial: bool | None = None
) -> list[Finding]:
    """Return the rows that need no scene: runtime, licence and, with the skill's folder, weights. See `match`."""
    gate = package.license_(manifest, folder, accept_noncommercial)
    findings = [package.runtime(manifest), gate]
    if gate.ok and folder is not None and manifest.weights_uri is not None:
        findings.append(package.weights(RSkillPackage(manifest, folder, accept_noncommercial)))
    return findings
