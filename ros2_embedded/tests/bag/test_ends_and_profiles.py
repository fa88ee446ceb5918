"""Where playing ends, how long it waits, and the QoS profiles that files say."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from std_msgs.msg import String

from rclpy.duration import Duration, Infinite
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from ros2cli.bag.overrides import read_overrides
from ros2cli.bag.pace import Pace
from ros2cli.bag.player import Player
from ros2cli.cli import main
from ros2cli.errors import CliError
from ros2topic.api import choose_qos
from rosbag2_py import SequentialReader, SequentialWriter, StorageOptions, TopicMetadata
from rosbag2_py.qos_profiles import adapted

START, MS = 10**18, 10**6


@pytest.fixture
def ten(tmp_path):
    """A bag of ten messages on /a, one each millisecond and a nanosecond."""
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=str(tmp_path / "bag")))
        profile = [{"depth": "deep"}]
        writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String", offered_qos_profiles=profile))
        for index in range(10):
            writer.write("/a", serialize_message(String(data=str(index))), START + index * (MS + 1))
    return tmp_path / "bag"


class Sink:
    def publish(self, data: bytes) -> None:
        pass


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"duration": -1.0}, 10),
        ({"duration": 0.0}, 1),
        ({"duration": 3.5e-3}, 4),
        ({"until": START + 3 * (MS + 1)}, 4),
        ({"until": START + 3 * (MS + 1) - 1}, 3),
        ({"until": START - 1}, 0),
        ({"until": START + 2 * (MS + 1), "duration": 5.5e-3}, 6),
        ({"until": START + 5 * (MS + 1), "duration": 2.5e-3}, 6),
        ({"start_offset": 2 * (MS + 1) / 1e9, "until": START + 3 * (MS + 1)}, 2),
    ],
)
def test_the_later_end_counts_to_the_nanosecond(ten, options, count):
    reader = SequentialReader()
    reader.open_uri(str(ten))
    player = Player(None, reader, pace=Pace(1000.0), **options)
    player._publishers["/a"] = Sink()
    player.play()
    assert player.count == count


@pytest.mark.parametrize("rate", [1e-12, 1e-300])
def test_a_rate_may_be_as_small_as_one_likes(rate):
    pace = Pace()
    pace.begin(0)
    pace.set_rate(rate)
    threading.Timer(0.1, pace.stop).start()
    assert pace.wait(10**9) is False


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-e", "["), "'[' is no regular expression"),
        (("-x", "("), "'(' is no regular expression"),
        ((), "topic '/a' of the bag: QoS policy depth is 'deep'"),
    ],
)
def test_what_cannot_be_played_is_told_in_one_line(ten, words, told, capsys):
    assert main(["bag", "play", str(ten), "--disable-keyboard-controls", *words]) == 1
    assert told in capsys.readouterr().err


def test_a_pattern_of_a_conversion_is_checked(ten, tmp_path, capsys):
    options = tmp_path / "o.yaml"
    options.write_text(f"output_bags: [{{uri: {tmp_path / 'out'}, regex: '['}}]")
    assert main(["bag", "convert", "-i", str(ten), "-o", str(options)]) == 1
    assert "'[' is no regular expression" in capsys.readouterr().err


def test_overrides_have_spans_and_no_unknown_policies(tmp_path):
    file = tmp_path / "qos.yaml"
    file.write_text(
        "/a: {depth: 3, deadline: {sec: 1, nsec: 5}, lifespan: {sec: 9223372036, nsec: 854775807}}"
    )
    profile = read_overrides(str(file))["/a"]
    assert (profile.depth, profile.deadline) == (3, Duration(nanoseconds=10**9 + 5))
    assert profile.lifespan == Infinite
    for wrong, told in (
        ("reliabilty: best_effort", "unknown QoS policy 'reliabilty'"),
        ("deadline: 5", "deadline is 5"),
        ("depth: deep", "depth is 'deep'"),
        ("durability: [1]", "durability is"),
    ):
        file.write_text(f"/a: {{{wrong}}}")
        with pytest.raises(CliError, match=told):
            read_overrides(str(file))


def test_the_depth_that_a_peer_announces_is_no_order_for_an_endless_queue():
    for depth, queue in ((5, 10), (500, 500), (2**62, 1000)):
        offered = QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        assert adapted([offered]).depth == queue
        node = SimpleNamespace(
            get_publishers_info_by_topic=lambda topic, offered=offered: [SimpleNamespace(qos_profile=offered)]
        )
        assert choose_qos(node, "/a", None).depth == queue
