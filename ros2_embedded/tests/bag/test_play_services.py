"""A bag that is played is paused, stepped, moved and ended by services."""

from __future__ import annotations

import pytest
from rosbag2_interfaces import srv
from std_msgs.msg import String

from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import serialize_message
from rosbag2_py import Player, PlayOptions, SequentialWriter, StorageOptions, TopicMetadata

START_S, COUNT = 10**9, 10


@pytest.fixture
def played(node, ros2, tmp_path):
    """A bag of ten messages, a second apart, that waits; what is heard of it; a call of a service."""
    uri = str(tmp_path / "bag")
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=uri))
        writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String"))
        for index in range(COUNT):
            writer.write("/a", serialize_message(String(data=f"{index}")), (START_S + index) * 10**9)
    heard, executor = [], SingleThreadedExecutor(context=node.context)
    subscription = node.create_subscription(String, "/a", lambda message: heard.append(message.data), 50)
    executor.add_node(node)
    player = ros2("bag", "play", uri, "--start-paused", "--disable-keyboard-controls")

    def until(condition):
        def looked():
            executor.spin_once(timeout_sec=0.02)
            return condition()

        assert ros2.wait_until(looked, 60.0), heard

    def call(kind, name, **fields):
        client = node.create_client(kind, f"/rosbag2_player/{name}")
        until(client.service_is_ready)
        answer = client.call_async(kind.Request(**fields))
        until(answer.done)
        node.destroy_client(client)
        return answer.result()

    yield player, heard, call, until
    executor.shutdown()
    node.destroy_subscription(subscription)


def test_it_is_controlled_by_services(played):
    player, heard, call, until = played
    assert call(srv.IsPaused, "is_paused").paused
    assert call(srv.PlayNext, "play_next").success
    until(lambda: heard == ["0"])
    assert call(srv.Burst, "burst", num_messages=3).actually_burst == 3
    until(lambda: heard == ["0", "1", "2", "3"])

    # To a moment that the bag has, and to none that it has not.
    request = srv.Seek.Request()
    request.time.sec = START_S + 8
    assert call(srv.Seek, "seek", time=request.time).success
    request.time.sec = START_S + COUNT
    assert not call(srv.Seek, "seek", time=request.time).success
    assert call(srv.PlayNext, "play_next").success
    until(lambda: heard[4:] == ["8"])

    assert not call(srv.SetRate, "set_rate", rate=0.0).success
    assert call(srv.SetRate, "set_rate", rate=0.01).success
    assert call(srv.GetRate, "get_rate").rate == pytest.approx(0.01)
    assert not call(srv.Play, "play").success
    call(srv.Resume, "resume")
    assert not call(srv.IsPaused, "is_paused").paused
    assert not call(srv.PlayNext, "play_next").success, "only while playing stands still"
    call(srv.TogglePaused, "toggle_paused")
    call(srv.Pause, "pause")
    assert call(srv.IsPaused, "is_paused").paused
    call(srv.Stop, "stop")
    output, _ = player.communicate(timeout=60)
    assert player.returncode == 0, output
    assert "Played 5 messages" in output


def test_a_bag_is_published_at_once(node, ros2, tmp_path):
    uri = str(tmp_path / "bag")
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=uri))
        writer.create_topic(TopicMetadata(0, "/burst", "std_msgs/msg/String"))
        for index in range(COUNT):
            data = serialize_message(String(data=f"{index}"))
            writer.write("/burst", data, (START_S + 3600 * index) * 10**9)
    heard, executor = [], SingleThreadedExecutor(context=node.context)
    subscription = node.create_subscription(String, "/burst", lambda message: heard.append(message.data), 50)
    executor.add_node(node)
    output, _ = ros2("bag", "burst", uri, "-n", "3").communicate(timeout=100)
    assert "Played 3 messages" in output
    Player().burst(StorageOptions(uri=uri), PlayOptions())

    def all_heard():
        executor.spin_once(timeout_sec=0.02)
        return len(heard) == 3 + COUNT

    assert ros2.wait_until(all_heard, 60.0), heard
    assert heard == [*"012", *"0123456789"]
    executor.shutdown()
    node.destroy_subscription(subscription)
