"""Observation and action adapters: names, sizes, flips, state layout, units, limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter, cameras_for
from openral_core.adapters.state_layout import layout_of, state_function, state_vector
from openral_core.errors import ContractError, PolicyError
from openral_core.manifest import RSkillManifest
from openral_core.scene import DeployScene
from openral_core.scene_parts import SceneCamera
from openral_core.types import Image, Observation, RobotState

Make = Callable[..., RSkillManifest]
KEY = "observation.images.camera1"


@pytest.fixture
def image() -> Image:
    """Four plain quarters: red, green, blue, white."""
    picture = np.zeros((128, 128, 3), np.uint8)
    picture[:64, :64] = (255, 0, 0)
    picture[:64, 64:] = (0, 255, 0)
    picture[64:, :64] = (0, 0, 255)
    picture[64:, 64:] = 255
    return picture


@pytest.fixture
def observation(image: Image, state: RobotState) -> Observation:
    return Observation(1.0, {"corner2": image}, state, "open the drawer")


def two_cameras(scene: DeployScene) -> DeployScene:
    second = SceneCamera(name="topview", feature_key="observation.images.camera2", width=128, height=128)
    world = scene.scene.model_copy(update={"cameras": (*scene.cameras, second)})
    return scene.model_copy(update={"scene": world})


def test_batch_has_the_form_of_the_checkpoint(
    manifest: Make, scene: DeployScene, observation: Observation
) -> None:
    other = replace(observation, instruction="close the drawer")
    batch = ObservationAdapter(manifest(), scene).batch([observation, other])
    assert set(batch.images) == {KEY}
    assert batch.images[KEY].shape == (2, 128, 128, 3)
    assert batch.images[KEY].dtype == np.uint8
    assert batch.state.dtype == np.float32
    np.testing.assert_allclose(batch.state, [[0.1, 0.6, 0.2, 0.5]] * 2, rtol=1e-6)
    assert list(batch.instructions) == ["open the drawer", "close the drawer"]


@pytest.mark.parametrize(
    ("opening", "expected"), [(0.0, 0.0), (0.05, 0.5), (0.1, 1.0), (0.3, 1.0), (-0.01, 0.0)]
)
def test_gripper_is_a_share_of_ten_centimetres(
    manifest: Make, scene: DeployScene, observation: Observation, opening: float, expected: float
) -> None:
    seen = replace(observation, state=replace(observation.state, gripper_opening=opening))
    assert ObservationAdapter(manifest(), scene).batch([seen]).state[0, 3] == pytest.approx(expected)


def test_resize_averages_areas(
    manifest: Make, scene: DeployScene, observation: Observation, image: Image
) -> None:
    skill = manifest(image_preprocessing={"image_size": [32, 64]})
    small = ObservationAdapter(skill, scene).batch([observation]).images[KEY][0]
    assert small.shape == (32, 64, 3)
    np.testing.assert_array_equal(small[0, 0], image[0, 0])
    np.testing.assert_array_equal(small[-1, -1], image[-1, -1])
    one = ObservationAdapter(manifest(image_preprocessing={"image_size": [1, 1]}), scene)
    mean = one.batch([observation]).images[KEY][0, 0, 0]
    np.testing.assert_allclose(mean, image.reshape(-1, 3).mean(axis=0), atol=1.0)


def test_flips_count_from_the_benchmarks_own_images(
    manifest: Make, scene: DeployScene, observation: Observation, image: Image
) -> None:
    """LIBERO's images lie bottom row first, so its half turn makes a mirror image of an upright one."""
    world = scene.scene.model_copy(update={"image_origin": "lower_left"})
    libero = scene.model_copy(update={"scene": world})
    for flips, seen in (
        ({"flip_180": True}, image[:, ::-1]),
        ({"flip_vertical": True}, image),
        ({}, image[::-1]),
    ):
        batch = ObservationAdapter(manifest(image_preprocessing=flips), libero).batch([observation])
        np.testing.assert_array_equal(batch.images[KEY][0], seen)


PANDA = {
    "layout": "libero_eef8d",
    "bindings": {
        "eef_frame": "panda_hand_tcp",
        "base_frame": "panda_link0",
        "gripper_qpos_joints": ["right", "left"],
    },
}


@pytest.mark.parametrize(
    ("quaternion", "turn"),
    [
        ([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0]),
        ([0.0, 0.0, np.sin(0.25), np.cos(0.25)], [0.0, 0.0, 0.5]),
        # the same rotation with the other sign: robosuite goes the long way round
        ([0.0, 0.0, -np.sin(0.25), -np.cos(0.25)], [0.0, 0.0, 0.5 - 2 * np.pi]),
        ([1.0, 0.0, 0.0, 0.0], [np.pi, 0.0, 0.0]),
    ],
)
def test_liberos_eight_numbers(
    manifest: Make, state: RobotState, quaternion: list[float], turn: list[float]
) -> None:
    panda = replace(
        state,
        ee_quaternion=np.array(quaternion),
        joint_names=("left", "panda_joint1", "right"),
        joint_positions=np.array([0.03, 1.0, -0.02]),
    )
    vector = state_function(manifest(state_contract=PANDA))(panda)
    np.testing.assert_allclose(vector, [0.1, 0.6, 0.2, *turn, -0.02, 0.03], atol=1e-6)
    assert vector.dtype == np.float32


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_ten_numbers_that_do_not_jump_where_the_hand_points_down(
    manifest: Make, state: RobotState, sign: float
) -> None:
    down = replace(state, ee_quaternion=sign * np.array([1.0, 0.0, 0.0, 1e-9]))
    contract = {"layout": "ee_pos3_rot6_gripper1", "dim": 10}
    vector = state_function(manifest(state_contract=contract))(down)
    np.testing.assert_allclose(vector, [0.1, 0.6, 0.2, 1, 0, 0, 0, -1, 0, state.gripper_opening], atol=1e-6)
    aside = replace(state, ee_quaternion=sign * np.array([0.0, 0.0, np.sin(0.25), np.cos(0.25)]))
    turned = [np.cos(0.5), np.sin(0.5), 0, -np.sin(0.5), np.cos(0.5), 0]
    np.testing.assert_allclose(
        state_vector("ee_pos3_rot6_gripper1", aside)[3:9], turned, atol=1e-6, err_msg="columns, not rows"
    )


def test_a_manifest_that_gives_the_length_only_means_liberos_panda(manifest: Make) -> None:
    bare = manifest(state_contract={"dim": 8}, embodiment_tags=["franka_panda"])
    assert layout_of(bare) == "libero_eef8d"
    one = {**PANDA, "bindings": {**PANDA["bindings"], "gripper_qpos_joints": ["right"]}}
    with pytest.raises(ContractError, match="gripper_qpos_joints: 1 joints"):
        state_function(manifest(state_contract=one))


@pytest.mark.parametrize(
    ("flip", "turned"),
    [
        ({"flip_180": True}, (slice(None, None, -1), slice(None, None, -1))),
        ({"flip_vertical": True}, (slice(None, None, -1), slice(None))),
        ({"flip_180": True, "flip_vertical": True}, (slice(None), slice(None, None, -1))),
        ({}, (slice(None), slice(None))),
    ],
)
def test_flips(
    manifest: Make,
    scene: DeployScene,
    observation: Observation,
    image: Image,
    flip: dict[str, bool],
    turned: tuple[slice, slice],
) -> None:
    batch = ObservationAdapter(manifest(image_preprocessing=flip), scene).batch([observation])
    np.testing.assert_array_equal(batch.images[KEY][0], image[turned])


def test_aliases_rename_the_input(manifest: Make, scene: DeployScene, observation: Observation) -> None:
    skill = manifest(image_preprocessing={"aliases": {KEY: "observation.image"}})
    assert set(ObservationAdapter(skill, scene).batch([observation]).images) == {"observation.image"}


def test_missing_or_wrong_images_name_the_camera(
    manifest: Make, scene: DeployScene, observation: Observation
) -> None:
    adapter = ObservationAdapter(manifest(), scene)
    with pytest.raises(ContractError, match="no image of camera 'corner2'; have top"):
        adapter.batch([replace(observation, images={"top": observation.images["corner2"]})])
    for wrong in (
        np.zeros((64, 64, 3), np.uint8),
        np.zeros((128, 128, 4), np.uint8),
        np.zeros((128, 128, 3)),
    ):
        with pytest.raises(ContractError, match=r"corner2' sends .* the scene says \(128, 128, 3\) uint8"):
            adapter.batch([replace(observation, images={"corner2": wrong})])  # type: ignore[dict-item]
    with pytest.raises(ContractError, match="empty batch"):
        adapter.batch([])


def test_cameras_are_chosen_by_key_not_by_order(manifest: Make, scene: DeployScene) -> None:
    both = two_cameras(scene)
    skill = manifest(
        sensors_required=[{"modality": "rgb"}, {"modality": "rgb", "vla_feature_key": KEY}],
    )
    assert [camera.name for camera in cameras_for(skill, both)] == ["topview", "corner2"]
    with pytest.raises(ContractError, match=r"needs 1 more rgb camera\(s\)"):
        cameras_for(skill, scene)
    with pytest.raises(ContractError, match=r"needs a camera with feature_key observation.images.wrist"):
        cameras_for(
            manifest(sensors_required=[{"modality": "rgb", "vla_feature_key": "observation.images.wrist"}]),
            both,
        )


def test_a_layout_that_cannot_be_built_is_refused(manifest: Make, scene: DeployScene) -> None:
    with pytest.raises(ContractError, match="'smolvla_9d' cannot be built here; use one of ee_pos3_gripper1"):
        ObservationAdapter(manifest(state_contract={"layout": "smolvla_9d"}), scene)
    with pytest.raises(ContractError, match=r"state_contract\.layout is missing"):
        ObservationAdapter(manifest(state_contract={"dim": 7}), scene)


def test_joints_are_a_state_as_a_recording_has_them(
    manifest: Make, scene: DeployScene, state: RobotState
) -> None:
    joints = len(state.joint_names)
    vector = state_function(manifest(state_contract={"layout": "joint_positions", "dim": joints}))(state)
    assert vector.dtype == np.float32
    np.testing.assert_array_equal(vector, state.joint_positions.astype(np.float32))
    other = state_function(manifest(state_contract={"layout": "joint_positions", "dim": 3}))
    with pytest.raises(
        ContractError, match=rf"3 joint positions, and the robot sends {joints}.*; write {joints}"
    ):
        other(state)
    with pytest.raises(ValidationError, match="is missing for layout joint_positions"):
        manifest(state_contract={"layout": "joint_positions"})


def test_small_overshoot_is_clipped_large_and_nan_are_left(manifest: Make, scene: DeployScene) -> None:
    chunk = np.array([[1.05, -1.1, 0.5, 1.0], [1.5, np.nan, np.inf, -7.0]])
    adapted = ActionAdapter(manifest(), scene)(chunk)
    assert adapted.dtype == np.float32
    np.testing.assert_array_equal(
        adapted, np.array([[1, -1, 0.5, 1], [1.5, np.nan, np.inf, -7.0]], np.float32)
    )


def test_steps_are_converted_to_the_scene(manifest: Make, scene: DeployScene) -> None:
    skill = manifest(
        action_contract={"dim": 4, "representation": "delta_ee_3d_plus_gripper", "step_m": 0.005}
    )
    adapted = ActionAdapter(skill, scene)(np.ones((2, 4)))
    np.testing.assert_allclose(adapted, [[0.5, 0.5, 0.5, 1.0]] * 2)


def test_action_contracts_must_agree(manifest: Make, scene: DeployScene) -> None:
    for contract, words in (
        (None, "action_contract is missing"),
        ({"dim": 7}, "gives 7 numbers an action, the scene takes 4"),
        ({"dim": 4, "representation": "joint_positions"}, "gives joint_positions"),
    ):
        with pytest.raises(ContractError, match=words):
            ActionAdapter(manifest(action_contract=contract), scene)
    for shape in ((4,), (0, 4), (3, 5), (1, 2, 4)):
        with pytest.raises(PolicyError, match="action chunk"):
            ActionAdapter(manifest(), scene)(np.zeros(shape))
