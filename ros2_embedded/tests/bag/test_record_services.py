"""A recording is paused, resumed, split and written from memory by services."""

from __future__ import annotations

import signal
import time

import pytest
from rosbag2_interfaces import srv
from std_msgs.msg import String

from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import deserialize_message, serialize_message
from ros2cli.bag.recorder import Recorder, Selection
from rosbag2_py import SequentialReader, SequentialWriter, StorageOptions


def test_a_recording_is_controlled_by_services(node, ros2, tmp_path):
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    publisher = node.create_publisher(String, "/recorded", 50)
    uri = str(tmp_path / "bag")
    record = ros2("bag", "record", "/recorded", "-o", uri, "-s", "sqlite3", "--start-paused")

    def until(condition):
        def looked():
            executor.spin_once(timeout_sec=0.02)
            return condition()

        assert ros2.wait_until(looked, 60.0)

    def call(kind, name):
        client = node.create_client(kind, f"/rosbag2_recorder/{name}")
        until(client.service_is_ready)
        answer = client.call_async(kind.Request())
        until(answer.done)
        node.destroy_client(client)
        return answer.result()

    assert call(srv.IsPaused, "is_paused").paused
    until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(String(data="left out"))
    call(srv.Resume, "resume")  # answered after what was published before
    assert not call(srv.IsPaused, "is_paused").paused
    publisher.publish(String(data="first"))
    call(srv.SplitBagfile, "split_bagfile")
    publisher.publish(String(data="second"))
    call(srv.Pause, "pause")
    publisher.publish(String(data="left out as well"))
    call(srv.IsPaused, "is_paused")
    record.send_signal(signal.SIGINT)
    output, _ = record.communicate(timeout=60)
    assert record.returncode == 0, output
    assert "2 messages" in output
    reader = SequentialReader()
    reader.open(StorageOptions(uri=uri))
    assert [name[-5:] for name in reader.get_metadata().relative_file_paths] == ["0.db3", "1.db3"]
    executor.shutdown()


def test_the_last_messages_are_written_when_somebody_asks(node, ros2, tmp_path):
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    publisher = node.create_publisher(String, "/kept", 50)
    uri = str(tmp_path / "bag")
    size = len(serialize_message(String(data="0")))
    arguments = ("--snapshot-mode", "--max-cache-size", str(3 * size))
    record = ros2("bag", "record", "/kept", "-o", uri, *arguments)

    def until(condition):
        def looked():
            executor.spin_once(timeout_sec=0.02)
            return condition()

        assert ros2.wait_until(looked, 60.0)

    client = node.create_client(srv.Snapshot, "/rosbag2_recorder/snapshot")
    until(lambda: client.service_is_ready() and publisher.get_subscription_count() == 1)
    for number in range(5):
        publisher.publish(String(data=f"{number}"))
    answer = client.call_async(srv.Snapshot.Request())
    until(answer.done)
    assert answer.result().success
    publisher.publish(String(data="5"))
    until(client.call_async(srv.Snapshot.Request()).done)
    publisher.publish(String(data="6"))
    record.send_signal(signal.SIGINT)
    output, _ = record.communicate(timeout=60)
    assert record.returncode == 0, output
    reader = SequentialReader()
    reader.open(StorageOptions(uri=uri))
    found = []
    while reader.has_next():
        found.append(deserialize_message(reader.read_next()[1], String).data)
    assert found == [*"2345"]
    assert reader.get_metadata().message_count == 4
    executor.shutdown()
    node.destroy_client(client)


def test_snapshots_need_a_size(tmp_path):
    writer = SequentialWriter()
    with pytest.raises(ValueError, match="max_cache_size greater than 0"):
        writer.open(StorageOptions(uri=str(tmp_path / "bag"), snapshot_mode=True))
    writer.open(StorageOptions(uri=str(tmp_path / "bag")))
    assert not writer.take_snapshot()
    writer.close()


def test_a_message_has_the_time_at_which_it_came_and_not_that_of_its_writing(node, ros2, tmp_path):
    publisher = node.create_publisher(String, "/late", 50)
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=str(tmp_path / "bag")))
        recorder = Recorder(node, writer, Selection(names=["/late"]), discovery=False)
        recorder.start()
        publisher.publish(String(data="x"))
        assert ros2.wait_until(lambda: recorder._subscribed["/late"].is_pending())
        came = time.time_ns()
        recorder.catch_up()
    node.destroy_publisher(publisher)
    reader = SequentialReader()
    reader.open_uri(str(tmp_path / "bag"))
    assert reader.read_next()[2] <= came
