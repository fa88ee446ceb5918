"""Gates for a skill's observations: cameras by feature key and resolution, and the proprioception vector."""

from __future__ import annotations

from collections.abc import Iterator

from openral_core.adapters.observation_adapter import cameras_for
from openral_core.adapters.state_layout import layout_of
from openral_core.errors import ContractError
from openral_core.manifest import RSkillManifest, SensorRequirement
from openral_core.manifest.contracts import LAYOUT_DIMS
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene, SceneCamera
from openral_rskill.checks.finding import Finding


def cameras(manifest: RSkillManifest, scene: DeployScene) -> Iterator[Finding]:
    """Check that the scene has each sensor that the skill requires, and that images are large enough."""
    other = [
        sensor.modality
        for sensor in manifest.sensors_required
        if sensor.modality not in ("rgb", "proprioception")
    ]
    for modality in other:
        fix = "openral's scenes have rgb cameras only; choose another skill"
        yield Finding(f"sensor {modality}", False, "none", modality, fix)
    try:
        chosen = cameras_for(manifest, scene)
    except ContractError as error:
        keys = ", ".join(camera.feature_key for camera in scene.cameras)
        needed = str(error).split(";")[0].split(",")[0].removeprefix(f"{manifest.name} needs ")
        yield Finding("cameras", False, keys, needed, str(error).rsplit(": ", 1)[-1])
        return
    wanted = [sensor for sensor in manifest.sensors_required if sensor.modality == "rgb"]
    needs = [sensor for sensor in wanted for _ in range(1 if sensor.vla_feature_key else sensor.count)]
    for sensor, camera in zip(needs, chosen, strict=True):
        yield _camera(manifest, sensor, camera)


def state(manifest: RSkillManifest, robot: RobotDescription) -> Finding:
    """Check that the layout of the proprioception vector is known and has the stated length."""
    contract = manifest.state_contract
    dim = contract.dim if contract else None
    try:
        layout = layout_of(manifest)
    except ContractError as error:
        return Finding(
            "state", False, str(contract.layout if contract else None), "a known layout", str(error)
        )
    built = LAYOUT_DIMS.get(layout, len(robot.joint_names))
    needed = dim if dim is not None else built
    fix = f"set state_contract.dim to {built}"
    return Finding.of("state", built == needed, f"{layout} ({built})", f"{needed} numbers", fix)


def _camera(manifest: RSkillManifest, sensor: SensorRequirement, camera: SceneCamera) -> Finding:
    """Check that a camera's images have at least the sensor's least size, or the checkpoint's input size."""
    preprocessing = manifest.image_preprocessing
    size = preprocessing.image_size if preprocessing else None
    width, height = sensor.min_width or 0, sensor.min_height or 0
    ok = camera.width >= width and camera.height >= height
    if not ok and size is not None:
        height, width = size
        ok = camera.width >= width and camera.height >= height
    found = f"{camera.name} {camera.width}x{camera.height}"
    fix = f"set observation_width and observation_height of the scene to at least {width} and {height}"
    return Finding.of(f"camera {camera.feature_key}", ok, found, f"at least {width}x{height} px", fix)
