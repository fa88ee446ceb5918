"""Profiles, times, clocks, loggers and messages as values."""

from __future__ import annotations

from unittest import mock

import pytest
from builtin_interfaces.msg import Time as TimeMessage
from test_msgs.message_fixtures import get_test_msg

import rclpy
from rclpy import logging, qos
from rclpy.clock import Clock, ClockChange, ClockType, JumpThreshold, ROSClock
from rclpy.duration import Duration, Infinite
from rclpy.exceptions import NotInitializedException
from rclpy.logging import LoggingSeverity, get_logger, get_logging_severity_from_string
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.time import Time
from rclpy.time_source import TimeSource

MESSAGES = [
    "Arrays",
    "BasicTypes",
    "BoundedPlainSequences",
    "BoundedSequences",
    "Builtins",
    "Constants",
    "Defaults",
    "Empty",
    "MultiNested",
    "Nested",
    "Strings",
    "UnboundedSequences",
    "WStrings",
]


class TestProfiles:
    def test_a_profile_says_how_much_it_keeps(self):
        for words in ({}, {"history": qos.HistoryPolicy.KEEP_LAST}):
            with pytest.raises(qos.InvalidQoSProfileException):
                qos.QoSProfile(**words)
        assert qos.QoSProfile(depth=3).history is qos.HistoryPolicy.KEEP_LAST

    def test_through_the_form_of_the_c_library(self):
        profile = qos.QoSProfile(
            history=qos.HistoryPolicy.KEEP_ALL,
            depth=12,
            reliability=qos.ReliabilityPolicy.BEST_EFFORT,
            durability=qos.DurabilityPolicy.TRANSIENT_LOCAL,
            lifespan=Duration(seconds=4),
            deadline=Duration(nanoseconds=1000),
            liveliness=qos.LivelinessPolicy.MANUAL_BY_TOPIC,
            liveliness_lease_duration=Duration(nanoseconds=12),
            avoid_ros_namespace_conventions=True,
        )
        assert qos.QoSProfile(**profile.get_c_qos_profile().to_dict()) == profile

    def test_names_of_policies(self):
        history = qos.HistoryPolicy
        assert history.short_keys() == ["system_default", "keep_last", "keep_all", "unknown"]
        assert history.get_from_short_key("KEEP_all") == history.KEEP_ALL.value
        assert history.KEEP_LAST.short_key == "keep_last"
        assert history.RMW_QOS_POLICY_HISTORY_KEEP_ALL is history.KEEP_ALL
        assert qos.QoSDurabilityPolicy.RMW_QOS_POLICY_DURABILITY_VOLATILE is qos.DurabilityPolicy.VOLATILE
        assert qos.QoSHistoryPolicy is history

    def test_presets(self):
        presets = qos.QoSPresetProfiles
        assert "sensor_data" in presets.short_keys()
        assert presets.get_from_short_key("SENSOR_data") == qos.qos_profile_sensor_data
        assert presets.SENSOR_DATA.value.reliability is qos.ReliabilityPolicy.BEST_EFFORT


class TestTimes:
    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ({"nanoseconds": 2**63}, OverflowError),
            ({"seconds": -1}, ValueError),
            ({"nanoseconds": -1}, ValueError),
            ({"clock_type": "SYSTEM"}, TypeError),
        ],
    )
    def test_limits(self, words, error):
        with pytest.raises(error):
            Time(**words)

    def test_arithmetic_keeps_the_clock(self):
        steady = Time(nanoseconds=5, clock_type=ClockType.STEADY_TIME)
        later = steady + Duration(nanoseconds=2)
        assert (later.nanoseconds, later.clock_type) == (7, ClockType.STEADY_TIME)
        assert (later - steady).nanoseconds == 2
        assert (steady - later).nanoseconds == -2
        assert Time(seconds=1, nanoseconds=15 * 10**8).seconds_nanoseconds() == (2, 5 * 10**8)
        with pytest.raises(ValueError):  # noqa: PT011
            steady - Duration(nanoseconds=6)
        with pytest.raises(OverflowError):
            Time(nanoseconds=2**63 - 1) + Duration(nanoseconds=1)

    def test_clocks_do_not_mix(self):
        steady, system = Time(clock_type=ClockType.STEADY_TIME), Time()
        for compare in (
            lambda: steady == system,
            lambda: steady < system,
            lambda: steady - system,
            lambda: steady + system,
            lambda: steady > Duration(),
        ):
            with pytest.raises(TypeError):
                compare()

    def test_messages(self):
        time = Time(nanoseconds=1553575413247045598, clock_type=ClockType.ROS_TIME)
        assert Time.from_msg(time.to_msg()) == time
        assert Time.from_msg(time.to_msg(), clock_type=ClockType.SYSTEM_TIME).clock_type == (
            ClockType.SYSTEM_TIME
        )
        assert time.to_msg() == TimeMessage(sec=1553575413, nanosec=247045598)
        assert Duration.from_msg(Duration(nanoseconds=-1).to_msg()) == Duration(nanoseconds=-1)

    def test_durations(self):
        assert Duration(seconds=1, nanoseconds=1).nanoseconds == 10**9 + 1
        assert Duration(nanoseconds=2**63 - 1) == Infinite
        assert str(Infinite) == "Infinite"
        assert -Duration(seconds=1) + Duration(seconds=3) == Duration(seconds=1) * 2
        for value in (2**63, -(2**63) - 1):
            with pytest.raises(OverflowError):
                Duration(nanoseconds=value)


class TestClocks:
    @pytest.mark.parametrize(
        ("forward", "backward"), [(0, None), (None, 0), (-1, None), (None, 1), (None, None)]
    )
    def test_thresholds(self, forward, backward):
        limits = [None if value is None else Duration(nanoseconds=value) for value in (forward, backward)]
        with pytest.raises(ValueError, match=r"min_|must be enabled"):
            JumpThreshold(min_forward=limits[0], min_backward=limits[1], on_clock_change=False)

    def test_callbacks_of_jumps(self):
        clock = ROSClock()
        before, after = mock.Mock(), mock.Mock()
        threshold = JumpThreshold(
            min_forward=Duration(seconds=1), min_backward=Duration(seconds=-1), on_clock_change=True
        )
        handle = clock.create_jump_callback(threshold, pre_callback=before, post_callback=after)
        clock._set_ros_time_is_active(True)
        assert after.call_args[0][0].clock_change is ClockChange.ROS_TIME_ACTIVATED
        after.reset_mock()
        clock.set_ros_time_override(Time(nanoseconds=5))
        after.assert_not_called()
        clock.set_ros_time_override(Time(seconds=2))
        assert after.call_args[0][0].delta == Duration(seconds=2) - Duration(nanoseconds=5)
        assert before.called
        after.reset_mock()
        handle.unregister()
        clock.set_ros_time_override(Time(seconds=9))
        after.assert_not_called()

    def test_sleeping(self, context):
        clock = Clock()
        assert clock.sleep_for(Duration(nanoseconds=1))
        assert clock.sleep_for(Duration(seconds=-1))
        with pytest.raises(ValueError, match="clock type"):
            clock.sleep_until(Time(clock_type=ClockType.STEADY_TIME))
        with pytest.raises(NotInitializedException):
            clock.sleep_for(Duration(seconds=1), context=rclpy.Context())

    def test_a_time_source_serves_clocks_of_its_node(self, node):
        source, clock, late = TimeSource(node=node), ROSClock(), ROSClock()
        source.attach_clock(clock)
        for wrong, error in ((Clock(), ValueError), ("clock", TypeError)):
            with pytest.raises(error):
                source.attach_clock(wrong)
        assert not source.ros_time_is_active
        node.set_parameters([Parameter("use_sim_time", value=True)])
        source.attach_clock(late)
        assert source.ros_time_is_active
        assert clock.ros_time_is_active
        assert late.ros_time_is_active
        assert clock.now() == Time(clock_type=ClockType.ROS_TIME)
        node.set_parameters([Parameter("use_sim_time", value=False)])
        assert not clock.ros_time_is_active
        assert not node.set_parameters([Parameter("use_sim_time", value="yes")])[0].successful
        source.detach_node()
        other = rclpy.create_node("other")
        source.attach_node(other)
        other.destroy_node()


class TestTimers:
    def test_state(self, node):
        timer = node.create_timer(1000.0, lambda: None)
        assert timer.timer_period_ns == 1000 * 10**9
        assert 0 < timer.time_until_next_call() <= 1000 * 10**9
        assert not timer.is_ready()
        timer.cancel()
        assert timer.is_canceled()
        assert timer.time_until_next_call() is None
        timer.reset()
        assert not timer.is_canceled()
        assert node.create_timer(1.0, lambda: None, autostart=False).is_canceled()

    def test_a_callback_may_ask_when_it_was_due(self, node, spin):
        seen = []

        def tell(info):
            seen.append(info)

        node.create_timer(0.001, tell)
        spin(lambda: seen)
        assert seen[0].actual_call_time >= seen[0].expected_call_time

    def test_rates(self, node):
        for wrong, error in ((None, TypeError), (-1.0, ValueError)):
            with pytest.raises(error):
                node.create_rate(wrong)
        rate = node.create_rate(1e-6)
        assert node.destroy_rate(rate)
        assert not node.destroy_rate(rate)


class TestLogging:
    @pytest.fixture(autouse=True)
    def _plain(self, monkeypatch):
        monkeypatch.delenv("RCUTILS_CONSOLE_OUTPUT_FORMAT", raising=False)
        yield
        logging.clear_config()

    def test_levels_go_to_children(self):
        parent, child = get_logger("levels"), get_logger("levels").get_child("child")
        assert child.name == "levels.child"
        parent.set_level(LoggingSeverity.ERROR)
        assert child.get_effective_level() is LoggingSeverity.ERROR
        assert not child.is_enabled_for(LoggingSeverity.WARN)
        child.set_level(LoggingSeverity.DEBUG)
        assert child.is_enabled_for(LoggingSeverity.DEBUG)
        child.set_level(LoggingSeverity.UNSET)
        assert child.get_effective_level() is LoggingSeverity.ERROR
        for wrong in ("", None):
            with pytest.raises((ValueError, TypeError)):
                parent.get_child(wrong)

    def test_words_for_levels(self):
        assert get_logging_severity_from_string("WaRn") is LoggingSeverity.WARN
        with pytest.raises(RuntimeError):
            get_logging_severity_from_string("loud")

    def test_once_skip_and_throttle(self):
        logger = get_logger("filters")

        clock = Clock()
        # What was logged is remembered for each line of a program.
        once = [logger.info("text", once=True) for _ in range(4)]
        skipped = [logger.info("text", skip_first=True) for _ in range(4)]
        throttled = [
            logger.info("text", throttle_duration_sec=1000, throttle_time_source_type=clock) for _ in range(4)
        ]
        both = [logger.info("text", throttle_duration_sec=1000, skip_first=True) for _ in range(4)]
        assert once == throttled == [True, False, False, False]
        assert skipped == [False, True, True, True]
        assert both == [False, False, False, False]

    def test_filters_are_checked(self):
        logger = get_logger("filters")
        with pytest.raises(TypeError):
            logger.info("text", no_such_filter=True)
        with pytest.raises(TypeError):
            logger.info("text", throttle_time_source_type=Clock())

    def test_a_line_keeps_its_severity_and_filters(self):
        logger = get_logger("changing")

        def log(severity, **filters):
            return logger.log("text", severity, **filters)

        log(LoggingSeverity.INFO)
        with pytest.raises(ValueError, match="severity"):
            log(LoggingSeverity.WARN)

    def test_the_format(self, monkeypatch, capfd):
        monkeypatch.setenv("RCUTILS_CONSOLE_OUTPUT_FORMAT", "{severity}|{name}|{message}|{line_number}")
        logging.clear_config()
        get_logger("shape").error("text")
        severity, name, message, line = capfd.readouterr().err.strip().split("|")
        assert (severity, name, message) == ("ERROR", "shape", "text")
        assert int(line) > 0


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_survive_serialisation(name):
    for message in get_test_msg(name):
        assert deserialize_message(serialize_message(message), type(message)) == message


def test_no_fixture_without_message():
    with pytest.raises(NotImplementedError):
        get_test_msg("Nothing")
