"""What a recorder keeps of a robot that stands still for long, or sends what no frame can have."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import rosbag2_py
from recorded_deployment import COLUMNS, RecordedDeployment

from openral_data.recording.assembler import FrameAssembler
from openral_data.recording.recorder import MOST_LATCHED

MINUTE = round(60 * COLUMNS.control_hz)


def test_states_without_a_control_step_are_not_kept() -> None:
    """As where a driver says the joints for hours before the bridge has its arm."""
    assembler, sizes = FrameAssembler(COLUMNS), list[int]()
    tracemalloc.start()
    try:
        for minute in range(3):
            for number in range(minute * MINUTE, (minute + 1) * MINUTE):
                stamp_s = number / COLUMNS.control_hz
                assembler.joints(stamp_s, COLUMNS.joints, (0.0, 0.0))
                assembler.pose(stamp_s, (0.0,) * 7)
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[2] < 1.1 * sizes[0]


def test_a_flood_of_latched_messages_does_not_grow_and_displaces_no_other_topic(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    world.recorder.message("/robot_description", "std_msgs/msg/String", b"robot", 1, latched="robot")
    for number in range(3 * MOST_LATCHED):
        skill = str(number).encode()
        world.recorder.message("/skills", "std_msgs/msg/String", skill, 2, latched=f"skill {number}")
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    world.recorder.close()
    reader = rosbag2_py.SequentialReader()
    bag = rosbag2_py.StorageOptions(uri=str(tmp_path / "bags" / "episode-000000"), storage_id="mcap")
    reader.open(bag, rosbag2_py.ConverterOptions("", ""))
    found: dict[str, list[bytes]] = {}
    while reader.has_next():
        topic, data, _ = reader.read_next()
        found.setdefault(topic, []).append(bytes(data))
    assert found["/robot_description"] == [b"robot"]
    assert found["/skills"] == [str(n).encode() for n in range(2 * MOST_LATCHED, 3 * MOST_LATCHED)]


def test_a_folder_that_somebody_deleted_is_told_once_and_holds_up_nothing(tmp_path: Path) -> None:
    root = tmp_path / "recording"
    world = RecordedDeployment(root, "episodes")
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    shutil.rmtree(root)
    for _ in range(3):
        world.recorder._looked_s = 0.0  # a second later
        world.recorder.tick()
    assert world.recorder.free_bytes == 0
    assert world.recorder.stopped_by.startswith("recording stopped: ")
    assert [line for line in world.said if line.startswith("recording stopped: ")] == [
        world.recorder.stopped_by
    ]
    root.mkdir()
    world.recorder._looked_s = world.recorder._retry_s = 0.0
    world.recorder.tick()
    assert world.recorder.stopped_by == ""
    world.recorder.close()


def test_the_encoders_process_imports_neither_schemas_nor_tables() -> None:
    names = "[name for name in ('pydantic', 'pyarrow') if name in sys.modules]"
    program = f"import sys, openral_data.recording.video_process; print({names})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
