"""Frames where pictures or states come late, not at all, or with the stamp of another clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from recorded_deployment import COLUMNS, EVERY, HZ, RecordedDeployment, grey

from openral_data.lerobot_v3 import open_dataset
from openral_data.recording.assembler import ExecutedStep, FrameAssembler
from openral_data.recording.frame import RecordedFrame

FIRST, SECOND = (camera.key for camera in COLUMNS.cameras)


def picture(step: int) -> NDArray[np.uint8]:
    return np.full((2, 2, 3), grey(step), np.uint8)


def observed(assembler: FrameAssembler, step: int) -> None:
    assembler.joints(step / HZ, COLUMNS.joints, (step, 0.05))
    assembler.pose(step / HZ, (step, *(0.0,) * 6))


def executed(assembler: FrameAssembler, step: int) -> list[RecordedFrame]:
    action = np.zeros(COLUMNS.action_dim, np.float32)
    return assembler.executed(step / HZ, ExecutedStep(action, held=False, intervention=False))


def test_the_first_frame_has_a_picture_of_each_camera() -> None:
    """The second camera comes one frame later, and just then a picture of the first one is lost."""
    assembler, frames = FrameAssembler(COLUMNS), list[RecordedFrame]()
    for step in range(100):
        observed(assembler, step)
        if step % EVERY == 0 and step != EVERY:
            assembler.image(FIRST, step / HZ, picture(step))
        if step % EVERY == 0 and step >= EVERY:
            assembler.image(SECOND, step / HZ, picture(step))
        frames += executed(assembler, step)
    first = {key: image.max() for key, image in frames[0].images.items() if image is not None}
    assert first == {FIRST: grey(0), SECOND: grey(EVERY)}
    assert assembler.losses.repeated_images == 1
    second = {key: image.max() for key, image in frames[1].images.items() if image is not None}
    assert second == {FIRST: grey(2 * EVERY), SECOND: grey(2 * EVERY)}


def test_a_state_that_does_not_come_for_long_leaves_no_gap_and_is_counted(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    assembler, pose = world.recorder.assembler, world.recorder.assembler.pose
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    assembler.pose = lambda stamp_s, values: None
    world.run(40, goal_id="a" * 32)
    assembler.pose = pose
    world.run(80, goal_id="a" * 32)
    world.recorder.close()
    dataset = open_dataset(tmp_path / "dataset")
    columns = dataset.columns(["stamp_s", "observation.state"])
    steps = np.round(columns["stamp_s"].ravel() * HZ).astype(int)
    assert (np.diff(steps) == EVERY).all()
    assert dataset.episodes["missing_states"] == [10]
    at_80 = steps.tolist().index(80)
    assert columns["observation.state"][at_80 : at_80 + 12, 0].tolist() == [80.0] * 11 + [124.0]


def test_an_episode_ends_where_no_state_comes_for_seconds(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    assembler, pose = world.recorder.assembler, world.recorder.assembler.pose
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    assembler.pose = lambda stamp_s, values: None
    world.run(400, goal_id="a" * 32)
    assembler.pose = pose
    world.run(80, goal_id="a" * 32)
    world.goal("")
    world.recorder.close()
    dataset = open_dataset(tmp_path / "dataset")
    columns = dataset.columns(["stamp_s", "episode_index"])
    steps = np.round(columns["stamp_s"].ravel() * HZ).astype(int)
    episodes = [steps[columns["episode_index"] == number] for number in range(2)]
    assert all((np.diff(episode) == EVERY).all() for episode in episodes)
    assert episodes[0][-1] <= 80 + 2 * HZ
    assert episodes[1][0] > 480
    assert dataset.episodes["truncated"] == [True, False]


def test_a_first_picture_of_a_clock_that_is_ahead_holds_up_nothing() -> None:
    """As one that was on its way when the world was configured again, and its clock with it."""
    assembler, frames = FrameAssembler(COLUMNS), list[RecordedFrame]()
    assembler.restart(0.0)
    for key in (FIRST, SECOND):
        assembler.image(key, 1000.0, picture(0))
    for step in range(1, 100):
        observed(assembler, step)
        frames += executed(assembler, step)
        if step % EVERY == 0:
            for key in (FIRST, SECOND):
                assembler.image(key, step / HZ, picture(step))
    assert [round(frame.stamp_s * HZ) for frame in frames[:3]] == [EVERY, 2 * EVERY, 3 * EVERY]
    assert all(image is not None for image in frames[0].images.values())
