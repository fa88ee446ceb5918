"""Checks that the packages a scene deploys exist, are of the right kind, and fit its robot.

It starts no world, downloads nothing and loads no weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from openral_control.motions import MotionArm, motion_name
from openral_core.errors import NotFoundError, OpenralError
from openral_core.files.yaml_document import Key, dotted
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_rskill.compatibility import match
from openral_rskill.playbook_procedure import load_playbook
from openral_rskill.registry import RSkillPackage, resolve
from openral_rskill.store.repo_id import HUB
from openral_sim_bridge.check_row import CheckRow

KINDS: Mapping[str, str] = {"skills": "vla", "reward_skill": "reward", "detector_skill": "detector"}
"""Key of the scene -> kind of skill that it takes; motions and playbooks have checks of their own."""
FETCHED = ("skills", "reward_skill")
"""Keys whose skills a deployment downloads from a hub."""
ALLOWED = ("latency", "licence")
"""Gates that an operator may pass at deployment: by --lockstep, and by accepting the terms."""


def deployment_rows(scene: DeployScene, robot: RobotDescription) -> Iterator[CheckRow]:
    """Check every package that a scene deploys.

    Args:
        scene: to check.
        robot: of the scene.

    Yields:
        A row for each fault, with file, line and fix, and for each key of the scene one row of its faultless packages.
    """
    for section in ("skills", "motions", "reward_skill", "detector_skill", "playbooks"):
        named = getattr(scene, section)
        refs: Sequence[tuple[Key, str]] = [((section,), named)] if isinstance(named, str) else []
        if isinstance(named, tuple):
            refs = [((section, index), ref) for index, ref in enumerate(named)]
        well = []
        for key, ref in refs:
            faults, words = _look(section, ref, scene, robot)
            yield from (_fault(scene, key, what, fix) for what, fix in faults)
            well += [words] if not faults else []
        if section == "motions" and refs:
            yield from _arm_rows(scene, robot)
        if well:
            yield CheckRow(_title(section), True, ", ".join(well))


def _look(
    section: str, ref: str, scene: DeployScene, robot: RobotDescription
) -> tuple[list[tuple[str, str]], str]:
    """Return the faults of one reference, each with its fix, and the package's name to print if there is none."""
    try:
        package = resolve(ref)
        faults = _kind_faults(section, package)
        if faults or section == "playbooks":
            return faults, _called(package)
        findings = [row for row in match(package.manifest, robot, scene) if not row.ok]
    except NotFoundError as error:
        if section in FETCHED and ref.startswith(HUB):
            return [], f"{ref} (not on this machine: fetched and looked at when it is deployed)"
        return _split(error), ref
    except OpenralError as error:
        return _split(error), ref
    name = package.manifest.name
    wrong = [
        (f"{name}: {row.gate}: {row.found}, needed {row.needed}", row.fix)
        for row in findings
        if row.gate not in ALLOWED
    ]
    allowed = ", ".join(row.gate for row in findings if row.gate in ALLOWED)
    note = f" (to be allowed when it is deployed: {allowed})" if allowed else ""
    return wrong, (package.manifest.short_name if section == "motions" else _called(package)) + note


def _kind_faults(section: str, package: RSkillPackage) -> list[tuple[str, str]]:
    """Return the faults of a skill's kind, each with its fix.

    Raises:
        OpenralError: a playbook's text is wrong, or a motion is unknown.
    """
    manifest = package.manifest
    if section == "playbooks":
        load_playbook(package)
    if section == "motions":
        motion_name(manifest)
    kind = KINDS.get(section, manifest.kind)
    if manifest.kind == kind:
        return []
    what = f"{manifest.name} is of kind {manifest.kind}, needed kind {kind}"
    return [(what, f"name a skill of kind {kind}")]


def _arm_rows(scene: DeployScene, robot: RobotDescription) -> Iterator[CheckRow]:
    """Yield the faults of robot and scene for motions, which need actions that displace a hand with a gripper."""
    if not robot.end_effectors:
        yield _fault(scene, ("motions",), f"robot {robot.name} has no end effector", "add one to robot.yaml")
        return
    try:
        MotionArm.of(scene, robot)
    except OpenralError as error:
        yield from (_fault(scene, ("motions",), what, fix) for what, fix in _split(error))


def _called(package: RSkillPackage) -> str:
    return f"{package.manifest.name} {package.manifest.version}"


def _split(error: OpenralError) -> list[tuple[str, str]]:
    """Return each line of an error as a fault and its fix."""
    parts = [line.partition("; ") for line in str(error).splitlines()]
    return [(what, fix or what) for what, _, fix in parts]


def _fault(scene: DeployScene, key: Key, what: str, fix: str) -> CheckRow:
    where = f"{scene.source.path}:{scene.source.line(key)}: " if scene.source else ""
    return CheckRow(_title(str(key[0])), False, f"{where}{dotted(key)}: {what}", fix)


def _title(section: str) -> str:
    return section.replace("_", " ")
