"""`ros2 bag` on real topics."""

from __future__ import annotations

import signal
import time

import pytest
from rosbags.rosbag2 import Reader
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rosbag2_py import SequentialReader, SequentialWriter, StorageOptions, TopicMetadata


def publish_until(publisher, done):
    """Publish numbered messages at 100 Hz until `done`."""
    count = 0
    while not done():
        publisher.publish(String(data=f"{count}"))
        count += 1
        time.sleep(0.01)


def test_record_then_info_then_play(node, ros2, tmp_path):
    latched = node.create_publisher(
        String, "/latched", QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    )
    latched.publish(String(data="before the recording"))
    publisher = node.create_publisher(String, "/numbers", 10)
    other = node.create_publisher(String, "/other", 10)
    bag = tmp_path / "bag"
    recorder = ros2(
        "bag", "record", "-o", str(bag), "-e", "num", "--topics", "/latched", "--custom-data", "who=me"
    )
    assert ros2.wait_until(
        lambda: publisher.get_subscription_count() == 1 and latched.get_subscription_count() == 1
    )
    end = time.monotonic() + 1.0
    publish_until(publisher, lambda: time.monotonic() > end)
    assert other.get_subscription_count() == 0
    recorder.send_signal(signal.SIGINT)
    output, _ = recorder.communicate(timeout=90)
    assert recorder.returncode == 0, output
    assert "Subscribed to topic '/numbers'" in output
    with Reader(bag) as reader:
        counts = {connection.topic: connection.msgcount for connection in reader.connections}
    assert counts["/latched"] == 1
    assert counts["/numbers"] > 20
    info, _ = ros2("bag", "info", str(bag)).communicate(timeout=90)
    assert "Storage id:        mcap\n" in info
    count = counts["/numbers"]
    assert (
        f"Topic: /numbers | Type: std_msgs/msg/String | Count: {count} | Serialization Format: cdr\n" in info
    )
    for entity in (latched, publisher, other):
        node.destroy_publisher(entity)


def test_options_of_ros_2_and_simulated_time(node, ros2, tmp_path):
    publisher = node.create_publisher(String, "/numbers", 10)
    clock = node.create_publisher(Clock, "/clock", 10)
    options = "--use-sim-time --compression-mode file --compression-format zstd --max-cache-size 0 -f cdr"
    bag = tmp_path / "bag"
    recorder = ros2("bag", "record", "-o", str(bag), "/numbers", "--log-level", "warn", *options.split())
    assert ros2.wait_until(
        lambda: publisher.get_subscription_count() == 1 and clock.get_subscription_count() == 1
    )
    stamp = Clock()
    stamp.clock.sec = 7
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        clock.publish(stamp)
        publisher.publish(String(data="x"))
        time.sleep(0.01)
    recorder.send_signal(signal.SIGINT)
    output, _ = recorder.communicate(timeout=90)
    assert (recorder.returncode, "Listening" in output) == (0, False), output
    reader = SequentialReader()
    reader.open(StorageOptions(uri=str(bag)))
    stamps = []
    while reader.has_next():
        stamps.append(reader.read_next()[2])
    assert stamps[-1] == 7 * 10**9
    for entity in (publisher, clock):
        node.destroy_publisher(entity)


def test_killed_recording_keeps_all_but_its_last_second(node, ros2, tmp_path):
    publisher = node.create_publisher(String, "/numbers", 10)
    bag = tmp_path / "bag"
    recorder = ros2("bag", "record", "-a", "-o", str(bag))
    assert ros2.wait_until(lambda: publisher.get_subscription_count() == 1)
    end = time.monotonic() + 2.5
    publish_until(publisher, lambda: time.monotonic() > end)
    killed = time.time_ns()
    recorder.kill()
    recorder.wait()
    reader = SequentialReader()
    reader.open(StorageOptions(uri=str(bag)))
    stamps = []
    while reader.has_next():
        topic, _, stamp = reader.read_next()
        if topic == "/numbers":
            stamps.append(stamp)
    assert len(stamps) > 50
    assert killed - stamps[-1] < 10**9
    info, _ = ros2("bag", "info", str(bag)).communicate(timeout=90)
    assert "Topic: /numbers" in info
    done, _ = ros2("bag", "reindex", str(bag)).communicate(timeout=90)
    assert "Reindexed" in done
    with Reader(bag) as complete:
        assert complete.message_count >= len(stamps)
    node.destroy_publisher(publisher)


@pytest.fixture
def bag(tmp_path):
    """Ten messages on /a, each 100 ms, and as many on /b."""
    writer = SequentialWriter()
    writer.open(StorageOptions(uri=str(tmp_path / "played")))
    from rclpy.serialization import serialize_message

    for name in ("/a", "/b"):
        writer.create_topic(TopicMetadata(0, name, "std_msgs/msg/String"))
    for index in range(10):
        for name in ("/a", "/b"):
            writer.write(name, serialize_message(String(data=f"{name}{index}")), 10**18 + index * 10**8)
    writer.close()
    return str(tmp_path / "played")


def test_play_in_time_with_clock_remap_offset_and_loop(node, ros2, bag):
    from rclpy.executors import SingleThreadedExecutor

    heard, clock = [], []
    subscriptions = [
        node.create_subscription(
            String, "/moved", lambda message: heard.append((message.data, time.monotonic())), 50
        ),
        node.create_subscription(String, "/b", lambda message: heard.append((message.data, 0)), 50),
        node.create_subscription(Clock, "/clock", lambda message: clock.append(message.clock.sec), 50),
    ]
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    options = (
        "--topics",
        "/a",
        "--remap",
        "/a:=/moved",
        "--start-offset",
        "0.45",
        "-r",
        "2",
        "--clock",
        "50",
        "-l",
    )
    player = ros2("bag", "play", bag, *options)

    def complete():
        executor.spin_once(timeout_sec=0.02)
        return len(heard) >= 10

    assert ros2.wait_until(complete)
    player.send_signal(signal.SIGINT)
    output, _ = player.communicate(timeout=90)
    assert "Traceback" not in output
    # From 0.45 s on there are messages 5 to 9, and then the loop begins again.
    assert [data for data, _ in heard[:10]] == [f"/a{index}" for index in (5, 6, 7, 8, 9)] * 2
    assert heard[4][1] - heard[0][1] > 0.15  # 0.4 s of the bag at twice the speed is 0.2 s
    assert set(clock) <= {10**9, 10**9 + 1}
    assert clock
    executor.remove_node(node)
    for subscription in subscriptions:
        node.destroy_subscription(subscription)


def test_mistakes_are_one_line(ros2, bag, tmp_path):
    for arguments, problem in (
        (("play", str(tmp_path / "none")), "no bag at"),
        (("play", bag, "--topics", "/c"), "has no topic /c; it has: /a, /b"),
        (("play", bag, "-m", "a=b"), "malformed remapping"),
        (("record",), "nothing to record"),
        (("record", "-a", "-o", bag), "cannot write a bag"),
    ):
        process = ros2("bag", *arguments)
        output, _ = process.communicate(timeout=90)
        assert process.returncode == 1, output
        assert problem in output
        assert "Traceback" not in output


def test_a_damaged_bag_is_named_in_one_line(ros2, tmp_path, capsys):
    from ros2cli.cli import main

    path, outputs = tmp_path / "bag", tmp_path / "outputs.yaml"
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=str(path)))
        writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String"))
        for index in range(1000):
            writer.write("/a", serialize_message(String(data="x" * 1000)), 10**18 + index)
    file = path / "bag_0.mcap"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    outputs.write_text(f"output_bags: [{{uri: {tmp_path / 'other'}}}]")
    for command in (
        ["convert", "-i", str(path), "-o", str(outputs)],
        ["play", str(path), "--disable-keyboard-controls"],
        ["reindex", str(path)],
    ):
        assert main(["bag", *command]) == 1
        assert f"'{file}' is damaged" in capsys.readouterr().err
    assert sorted(found.name for found in path.iterdir()) == ["bag_0.mcap", "metadata.yaml"]
    output, _ = ros2("bag", "record", "/a", "-o", str(path)).communicate(timeout=60)
    assert output.count("cannot write a bag") == 1
