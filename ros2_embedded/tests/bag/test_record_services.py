"""A recording is paused, resumed and split by services."""

from __future__ import annotations

import signal

from rosbag2_interfaces import srv
from std_msgs.msg import String

from rclpy.executors import SingleThreadedExecutor
from rosbag2_py import SequentialReader, StorageOptions


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
