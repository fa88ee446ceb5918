"""Checks whether a skill fits a robot in a scene, before weights are loaded: one finding with its fix for each gate."""

from __future__ import annotations

from pathlib import Path

from openral_core.manifest import RSkillManifest
from openral_core.manifest.family_rules import family_rule
from openral_core.robot import RobotDescription, load_robot
from openral_core.scene import DeployScene
from openral_rskill.checks import Finding, action, action_semantics, embodiment, observation, package, require
from openral_rskill.registry import RSkillPackage

__all__ = ["Finding", "match", "package_findings", "require"]


def match(
    manifest: RSkillManifest,
    robot: RobotDescription,
    scene: DeployScene,
    *,
    folder: Path | None = None,
    accept_noncommercial: bool | None = None,
    lockstep: bool = False,
    task: str = "",
    allow_unevaluated: bool = False,
) -> list[Finding]:
    """Compare the requirements of a skill with what a robot and a scene offer.

    Args:
        manifest: of the skill.
        robot: of the scene.
        scene: in which the skill is to run.
        folder: of the skill; None: weights are not checked.
        accept_noncommercial: see `openral_rskill.license.check_license`.
        lockstep: whether the world waits for the policy, so that an inference may take longer than its chunk.
        task: of the scene, that the skill is to do; empty: any.
        allow_unevaluated: whether the skill may run on a task that it was not evaluated on; the caller has to record
            this in the result of the run.

    Returns:
        One finding for each gate, in a fixed order.
    """
    findings = [embodiment.embodiment(manifest, robot), *embodiment.capabilities(manifest, robot)]
    findings += observation.cameras(manifest, scene)
    if manifest.kind == "vla":
        findings += embodiment.control_mode(manifest, robot, scene)
        findings += [observation.state(manifest, robot), *embodiment.bindings(manifest, robot)]
        findings += embodiment.joint_order(manifest, robot)
        findings += [
            *action.action(manifest, scene),
            *action_semantics.action_semantics(manifest, robot, scene),
        ]
        findings += action.rate(manifest, scene, lockstep)
        findings += [*embodiment.starting_pose(manifest, robot), *embodiment.envelope(manifest, robot, scene)]
    findings += package_findings(manifest, folder=folder, accept_noncommercial=accept_noncommercial)
    findings.append(package.tasks(manifest, scene, task, allow_unevaluated))
    return findings


JUDGED_BY = {
    "reward": "judge it with `openral reward eval`",
    "detector": "judge it with `openral detector eval`",
}


def require_policy(manifest: RSkillManifest) -> None:
    """Raise ContractError unless a skill has a policy that can act in an episode."""
    fix = JUDGED_BY.get(manifest.kind, "name a skill of kind vla")
    require([Finding.of("kind", manifest.kind == "vla", f"{manifest.name} is a {manifest.kind}", "vla", fix)])


def require_fit(
    package: RSkillPackage,
    scene: DeployScene,
    *,
    task: str,
    lockstep: bool = True,
    allow_unevaluated: bool = False,
) -> None:
    """Raise ContractError, with a line for each failed gate, unless a skill fits a scene and its robot; see `match`."""
    require(
        match(
            package.manifest,
            load_robot(scene.robot_id),
            scene,
            folder=package.folder,
            accept_noncommercial=package.accept_noncommercial,
            lockstep=lockstep,
            task=task,
            allow_unevaluated=allow_unevaluated,
        )
    )


def package_findings(
    manifest: RSkillManifest, *, folder: Path | None = None, accept_noncommercial: bool | None = None
) -> list[Finding]:
    """Return the findings that need no scene; see `match`.

    They are runtime, family, licence, the address of a policy that is served, and with `folder` weights.
    """
    gate = package.license_(manifest, folder, accept_noncommercial)
    findings = [package.runtime(manifest), gate]
    if manifest.kind in ("vla", "reward") and manifest.model_family is not None:
        findings.insert(1, package.family(manifest))
        rule = family_rule(manifest.model_family)
        if rule is not None and rule.served:
            findings.append(package.server(manifest))
    if gate.ok and folder is not None and manifest.weights_uri is not None:
        findings.append(package.weights(RSkillPackage(manifest, folder, accept_noncommercial)))
    return findings
