"""From messages to observations: joint names, stamps, pixels."""

from __future__ import annotations

import numpy as np
import pytest
from sensor_msgs.msg import Image

from openral_core.errors import ContractError
from openral_core.image_message import decode_image
from openral_policy_nodes.state_assembler import StateAssembler
from openral_policy_nodes.synchroniser import StampSynchroniser

QUATERNION = (0.0, 0.0, 0.0, 1.0)


def test_joints_are_found_by_name_in_any_order():
    assembler = StateAssembler(("a", "b", "finger"), "finger")
    state = assembler.assemble(
        1_500_000_000, ["finger", "extra", "b", "a"], [0.04, 9.0, 2.0, 1.0], (1, 2, 3), QUATERNION
    )
    assert state.stamp_s == 1.5
    assert state.joint_names == ("a", "b", "finger")
    np.testing.assert_array_equal(state.joint_positions, [1.0, 2.0, 0.04])
    assert state.gripper_opening == 0.04


def test_missing_joint_is_named():
    assembler = StateAssembler(("a", "b"), "finger")
    with pytest.raises(ContractError, match="lacks b, finger; it has a"):
        assembler.assemble(0, ["a"], [0.0], (0, 0, 0), QUATERNION)
    with pytest.raises(ContractError, match="1 names but 2 positions"):
        assembler.assemble(0, ["a"], [0.0, 1.0], (0, 0, 0), QUATERNION)


def test_only_equal_stamps_make_a_set():
    synchroniser = StampSynchroniser[str](["image", "joints", "pose"])
    assert synchroniser.add("joints", 100, "j100") is None
    assert synchroniser.add("pose", 101, "p101") is None
    assert synchroniser.add("image", 100, "i100") is None
    assert synchroniser.add("pose", 100, "p100") == {"image": "i100", "joints": "j100", "pose": "p100"}


def test_repeated_message_completes_its_set_again():
    synchroniser = StampSynchroniser[str](["image", "joints"])
    synchroniser.add("joints", 5, "j")
    assert synchroniser.add("image", 5, "first") is not None
    assert synchroniser.add("image", 5, "again") == {"image": "again", "joints": "j"}


def test_memory_of_a_stream_is_bounded():
    synchroniser = StampSynchroniser[str](["image", "joints"], depth=3)
    for stamp in range(10):
        synchroniser.add("joints", stamp, "j")
    assert synchroniser.add("image", 6, "i") is None
    assert synchroniser.add("image", 7, "i") is not None


def test_pixels_with_padded_rows_are_read(scene):
    camera = scene.cameras[0]
    pixels = np.random.default_rng(0).integers(0, 255, (32, 32, 3), np.uint8)
    padded = np.zeros((32, 100), np.uint8)
    padded[:, :96] = pixels.reshape(32, 96)
    for rows in (pixels, padded):
        data = rows.tobytes()
        message = Image(width=32, height=32, encoding="rgb8", step=len(data) // 32, data=data)
        np.testing.assert_array_equal(decode_image(camera, message), pixels)


@pytest.mark.parametrize(
    ("size", "encoding", "nbytes", "text"),
    [
        ((64, 48), "rgb8", 64 * 48 * 3, "corner2.*64x48.*32x32"),
        ((32, 32), "bgr8", 3072, "corner2.*32x32 bgr8.*rgb8"),
        ((32, 32), "rgb8", 3000, "3000 bytes.*3072"),
    ],
)
def test_other_images_are_refused_with_both_forms(scene, size, encoding, nbytes, text):
    width, height = size
    message = Image(width=width, height=height, encoding=encoding, step=3 * width, data=bytes(nbytes))
    with pytest.raises(ContractError, match=text):
        decode_image(scene.cameras[0], message)


def test_state_needs_finite_numbers_and_its_faults_are_short():
    assembler = StateAssembler(("a", "b"), "b")
    for value in (float("nan"), float("inf")):
        with pytest.raises(ContractError, match="a on /joint_states is not finite"):
            assembler.assemble(0, ["a", "b"], [value, 0.0], (0, 0, 0), QUATERNION)
        with pytest.raises(ContractError, match="pose on ee_pose is not finite"):
            assembler.assemble(0, ["a", "b"], [0.0, 0.0], (0, value, 0), QUATERNION)
    assert assembler.assemble(0, ["a", "b", "c"], [0.0, 0.0, float("nan")], (0, 0, 0), QUATERNION)
    for names in (["x" * 1_000_000], ["x"] * 1_000_000, ["\x1b[2J"]):
        with pytest.raises(ContractError) as refused:
            assembler.assemble(0, names, [0.0] * len(names), (0, 0, 0), QUATERNION)
        assert len(str(refused.value)) < 600
        assert str(refused.value).isprintable()
