"""From a batch to the names of the wire and back: splits, kinds, the gripper, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rldx_helpers import make_batch

from openral_core.errors import PolicyError
from openral_policy_nodes.families.rldx.layouts import LAYOUTS, layout_named

LIBERO = LAYOUTS["libero_eef8d"]


def action(batch: int = 2, **changes: np.ndarray) -> dict[str, np.ndarray]:
    names = [name for name, _ in LIBERO.action]
    parts = {name: np.full((batch, 16, 1), i, np.float32) for i, name in enumerate(names)}
    return {**parts, **{f"action.{name}": value for name, value in changes.items()}}


def test_observation_is_cut_and_named() -> None:
    batch = make_batch("a", "b")
    sent = LIBERO.observation(batch)
    assert sent["annotation.human.action.task_description"] == ["pick up the bowl"] * 2
    np.testing.assert_array_equal(sent["video.image"], batch.images["observation.images.camera1"])
    np.testing.assert_array_equal(sent["video.wrist_image"], batch.images["observation.images.camera2"])
    names = [f"state.{name}" for name in ("x", "y", "z", "roll", "pitch", "yaw", "gripper")]
    assert all(sent[name].dtype == np.float32 and sent[name].shape[:2] == (2, 1) for name in names)
    np.testing.assert_array_equal(np.concatenate([sent[name] for name in names], 2)[:, 0], batch.state)
    assert sent["state.gripper"].shape == (2, 1, 2)


@pytest.mark.parametrize(("wire", "command"), [(1.0, -1.0), (0.0, 1.0), (0.9, -1.0), (0.2, 1.0), (0.5, 0.0)])
def test_gripper_opens_where_the_wire_says_one(wire: float, command: float) -> None:
    chunks = LIBERO.chunks(action(gripper=np.full((2, 16, 1), wire, np.float32)), 2, 16)
    assert (chunks.shape, chunks.dtype) == ((2, 16, 7), np.float32)
    np.testing.assert_array_equal(chunks[0, 0], [0, 1, 2, 3, 4, 5, command])


def test_not_a_number_stays_for_the_envelope() -> None:
    chunks = LIBERO.chunks(action(gripper=np.full((2, 16, 1), np.nan, np.float32)), 2, 16)
    assert np.isnan(chunks[..., 6]).all()


def test_what_does_not_fit_is_refused_by_name() -> None:
    batch = make_batch("a")
    one_camera = dict(list(batch.images.items())[:1])
    flat = {name: video[:, 0] for name, video in batch.images.items()}
    for wrong, words in (
        (replace(batch, images=one_camera), "1 cameras, 2 needed"),
        (replace(batch, images=flat), r"video.image \(1, 16, 16, 3\), needed \(B, T, H, W, 3\)"),
        (replace(batch, state=batch.state[:, :7]), r"state \(1, 7\), needed \(1, 8\)"),
    ):
        with pytest.raises(PolicyError, match=words):
            LIBERO.observation(wrong)
    short = np.zeros((2, 8, 1), np.float32)
    for found, words in (
        ({"action.eef_pos_delta": short}, "no action.x, only action.eef_pos_delta"),
        (None, "no action.x, only NoneType"),
        (action(yaw=short), r"action.yaw \(2, 8, 1\), needed \(2, 16, 1\)"),
        (action(yaw=np.zeros((2, 16, 1), np.int64)), "no action.yaw"),
    ):
        with pytest.raises(PolicyError, match=words):
            LIBERO.chunks(found, 2, 16)
    with pytest.raises(PolicyError, match="layout gr1 has no names on the wire; known are libero_eef8d"):
        layout_named("gr1")
