"""Does a skill fit a robot in a scene? One row a gate, each with its mend, before anything is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from openral_core.errors import ContractError, LicenseError, OpenralError
from openral_core.license import check_license, is_evaluated
from openral_core.manifest import RSkillManifest, SensorRequirement
from openral_core.manifest.contracts import LAYOUT_DIMS
from openral_core.observation_adapter import cameras_for
from openral_core.registry import RSkillPackage
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene, SceneCamera
from openral_core.state_layout import layout_of


@dataclass(frozen=True)
class Finding:
    """One gate and what it found."""

    gate: str
    """What was compared."""
    ok: bool
    """Whether it fits."""
    found: str
    """What the scene, the robot or the skill's folder offers."""
    needed: str
    """What the skill demands."""
    mend: str = ""
    """What to do about it; empty where it is well."""


def match(
    manifest: RSkillManifest,
    robot: RobotDescription,
    scene: DeployScene,
    *,
    folder: Path | None = None,
    accept_noncommercial: bool | None = None,
) -> list[Finding]:
    """Compare a skill's demands with what a robot and a scene offer.

    Args:
        manifest: the skill.
        robot: the scene's robot.
        scene: where it is to run.
        folder: the skill's folder; with it, the weights are looked at, too.
        accept_noncommercial: see `openral_core.license.check_license`.

    Returns:
        One finding a gate, all gates, in a fixed order.
    """
    findings = [_embodiment(manifest, robot), *_capabilities(manifest, robot), *_cameras(manifest, scene)]
    if manifest.kind == "vla":
        findings += [_state(manifest), *_action(manifest, scene), *_rate(manifest, scene)]
        findings += [*_starting_pose(manifest, robot), *_envelope(manifest, robot, scene)]
    findings += package_findings(manifest, folder=folder, accept_noncommercial=accept_noncommercial)
    findings.append(_tasks(manifest, scene))
    return findings


def package_findings(
    manifest: RSkillManifest, *, folder: Path | None = None, accept_noncommercial: bool | None = None
) -> list[Finding]:
    """Return the rows that need no scene: licence and, with the skill's folder, weights. See `match`."""
    gate = _license(manifest, folder, accept_noncommercial)
    if gate.ok and folder is not None and manifest.weights_uri is not None:
        return [gate, _weights(RSkillPackage(manifest, folder, accept_noncommercial))]
    return [gate]


def require(findings: Sequence[Finding]) -> None:
    """Raise ContractError, one line a failing row, unless every row is well."""
    failing = [finding for finding in findings if not finding.ok]
    if failing:
        rows = [f"{row.gate}: {row.found}, needed {row.needed}; {row.mend}" for row in failing]
        raise ContractError("\n".join(rows))


def _row(gate: str, ok: bool, found: str, needed: str, mend: str) -> Finding:
    return Finding(gate, ok, found, needed, "" if ok else mend)


def _embodiment(manifest: RSkillManifest, robot: RobotDescription) -> Finding:
    tags = manifest.embodiment_tags
    ok = "any" in tags or not set(tags).isdisjoint(robot.embodiment_tags)
    mend = f"choose a scene whose robot is one of {', '.join(tags)}"
    return _row(
        "embodiment", ok, f"robot {robot.name} ({', '.join(robot.embodiment_tags)})", ", ".join(tags), mend
    )


def _capabilities(manifest: RSkillManifest, robot: RobotDescription) -> Iterator[Finding]:
    for name, value in manifest.capabilities_required.items():
        found = robot.capabilities.flags.get(name)
        mend = f"choose a robot with {name}: {str(value).lower()}"
        shown = "not stated" if found is None else str(found).lower()
        yield _row(f"capability {name}", found is value, shown, str(value).lower(), mend)


def _cameras(manifest: RSkillManifest, scene: DeployScene) -> Iterator[Finding]:
    other = [
        sensor.modality
        for sensor in manifest.sensors_required
        if sensor.modality not in ("rgb", "proprioception")
    ]
    for modality in other:
        mend = "openral's scenes have rgb cameras only; choose another skill"
        yield Finding(f"sensor {modality}", False, "none", modality, mend)
    try:
        cameras = cameras_for(manifest, scene)
    except ContractError as error:
        keys = ", ".join(camera.feature_key for camera in scene.cameras)
        yield Finding(
            "cameras", False, keys, str(error).split(";")[0].split(",")[0], str(error).rsplit(": ", 1)[-1]
        )
        return
    wanted = [sensor for sensor in manifest.sensors_required if sensor.modality == "rgb"]
    needs = [sensor for sensor in wanted for _ in range(1 if sensor.vla_feature_key else sensor.count)]
    for sensor, camera in zip(needs, cameras, strict=True):
        yield _camera(sensor, camera)


def _camera(sensor: SensorRequirement, camera: SceneCamera) -> Finding:
    width, height = sensor.min_width or 0, sensor.min_height or 0
    ok = camera.width >= width and camera.height >= height
    found = f"{camera.name} {camera.width}x{camera.height}"
    mend = f"set observation_width and observation_height of the scene to at least {width} and {height}"
    return _row(f"camera {camera.feature_key}", ok, found, f"at least {width}x{height} px", mend)


def _state(manifest: RSkillManifest) -> Finding:
    contract = manifest.state_contract
    dim = contract.dim if contract else None
    try:
        layout = layout_of(manifest)
    except ContractError as error:
        return Finding(
            "state", False, str(contract.layout if contract else None), "a known layout", str(error)
        )
    needed = dim if dim is not None else LAYOUT_DIMS[layout]
    ok = LAYOUT_DIMS[layout] == needed
    mend = f"set state_contract.dim to {LAYOUT_DIMS[layout]}"
    return _row("state", ok, f"{layout} ({LAYOUT_DIMS[layout]})", f"{needed} numbers", mend)


def _action(manifest: RSkillManifest, scene: DeployScene) -> Iterator[Finding]:
    offered, demanded = scene.action, manifest.action_contract
    if demanded is None:
        yield Finding("action", False, "no action_contract", f"{offered.dim} numbers", "add action_contract")
        return
    mend = "choose a scene with that action contract, or a skill trained for this one"
    yield _row("action dim", offered.dim == demanded.dim, str(offered.dim), str(demanded.dim), mend)
    needed = demanded.representation or "not stated"
    ok = demanded.representation in (None, offered.representation)
    yield _row("action representation", ok, offered.representation, needed, mend)


def _rate(manifest: RSkillManifest, scene: DeployScene) -> Iterator[Finding]:
    trained = manifest.action_contract.control_hz if manifest.action_contract else None
    if trained is not None:
        ok = abs(trained - scene.control_hz) <= 0.01 * trained
        mend = f"set control_hz of the scene to {trained:g}"
        yield _row("control rate", ok, f"{scene.control_hz:g} Hz", f"{trained:g} Hz", mend)
    covered_ms = 1000.0 * manifest.chunk_size * scene.dt
    budget_ms = manifest.latency_budget.per_chunk_ms
    found = f"{budget_ms:g} ms an inference"
    needed = f"less than {covered_ms:g} ms ({manifest.chunk_size} steps at {scene.control_hz:g} Hz)"
    mend = "the arm would hold more than it moves: use lockstep, a faster device or a longer chunk"
    yield _row("latency", budget_ms < covered_ms, found, needed, mend)


def _starting_pose(manifest: RSkillManifest, robot: RobotDescription) -> Iterator[Finding]:
    if manifest.starting_pose:
        unknown = sorted(set(manifest.starting_pose) - set(robot.joint_names))
        found = f"unknown {', '.join(unknown)}" if unknown else "all joints known"
        mend = f"name joints of {robot.name}: {', '.join(robot.joint_names)}"
        yield _row("starting pose", not unknown, found, ", ".join(manifest.starting_pose), mend)


def _envelope(manifest: RSkillManifest, robot: RobotDescription, scene: DeployScene) -> Iterator[Finding]:
    wanted = manifest.envelope
    if wanted is None:
        return
    if wanted.max_ee_speed_m_s is not None:
        speed = robot.safety.max_ee_speed_m_s
        mend = f"lower safety.max_ee_speed_m_s of {robot.name} to {wanted.max_ee_speed_m_s:g}"
        needed = f"at most {wanted.max_ee_speed_m_s:g} m/s"
        yield _row("speed", speed <= wanted.max_ee_speed_m_s, f"{speed:g} m/s allowed", needed, mend)
    if wanted.workspace is not None:
        inner, outer = scene.workspace, wanted.workspace
        ok = inner is not None and all(
            outer.low[axis] <= inner.low[axis] and inner.high[axis] <= outer.high[axis] for axis in range(3)
        )
        found = f"{inner.low} to {inner.high}" if inner else "none"
        mend = "make the scene's workspace smaller"
        yield _row("workspace", ok, found, f"inside {outer.low} to {outer.high} m", mend)


def _license(manifest: RSkillManifest, folder: Path | None, accept_noncommercial: bool | None) -> Finding:
    needed = "commercial use, or its terms accepted"
    try:
        check_license(manifest, folder=folder, accept_noncommercial=accept_noncommercial)
    except LicenseError as error:
        return Finding("licence", False, manifest.license, needed, str(error))
    return Finding("licence", True, manifest.license, needed)


def _weights(package: RSkillPackage) -> Finding:
    needed = "whole safetensors files"
    try:
        folder = package.checkpoint()
    except OpenralError as error:
        return Finding("weights", False, str(package.manifest.weights_uri), needed, str(error))
    size = sum(path.stat().st_size for path in folder.rglob("*.safetensors"))
    return Finding("weights", True, f"{package.manifest.weights_uri}, {size / 1e6:.1f} MB", needed)


def _tasks(manifest: RSkillManifest, scene: DeployScene) -> Finding:
    tasks = scene.task_ids or (scene.scene.id,)
    unknown = [task for task in tasks if not is_evaluated(manifest.evaluated_tasks, task, scene.scene.id)]
    needed = ", ".join(manifest.evaluated_tasks) or "any (none stated)"
    mend = "choose a scene it was evaluated on, or evaluate it here and add the task to evaluated_tasks"
    # Several skills may share one deployment: it is enough if this one knows something to do there.
    return _row("evaluated tasks", len(unknown) < len(tasks), ", ".join(tasks), needed, mend)
