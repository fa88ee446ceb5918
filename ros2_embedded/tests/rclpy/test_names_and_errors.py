"""Names that are refused, arguments that are refused, and what stands for what was destroyed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

import rclpy
from rclpy.duration import Duration
from rclpy.exceptions import (
    InvalidHandle,
    InvalidNamespaceException,
    InvalidNodeNameException,
    InvalidServiceNameException,
    InvalidTopicNameException,
    NotInitializedException,
)
from rclpy.expand_topic_name import expand_topic_name
from rclpy.handle import Handle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile
from rclpy.validate_full_topic_name import validate_full_topic_name
from rclpy.validate_namespace import validate_namespace
from rclpy.validate_node_name import validate_node_name
from rclpy.validate_topic_name import validate_topic_name
from ros2_embedded.wire.keys import dds_type
from ros2_embedded.wire.qos_text import WireQoS
from ros2_embedded.wire.tokens import PUBLISHER, endpoint_token, node_token
from ros2cli.bag.recorder import Recorder, Selection


class TestNames:
    @pytest.mark.parametrize(
        ("check", "name", "reason", "error"),
        [
            (validate_node_name, "", "must not be empty", InvalidNodeNameException),
            (validate_node_name, "a?", "must not contain characters", InvalidNodeNameException),
            (validate_node_name, "4a", "must not start with a number", InvalidNodeNameException),
            (validate_namespace, "", "must not be empty", InvalidNamespaceException),
            (validate_namespace, "a", "must be absolute", InvalidNamespaceException),
            (validate_namespace, "/a?", "must not contain characters", InvalidNamespaceException),
            (validate_topic_name, "", "must not be empty", InvalidTopicNameException),
            (validate_topic_name, "/a/", "must not end with a forward slash", InvalidTopicNameException),
            (validate_topic_name, "/a/4b", "must not start with a number", InvalidTopicNameException),
            (validate_topic_name, "a{b", "unbalanced", InvalidTopicNameException),
            (validate_topic_name, "a}", "unbalanced", InvalidTopicNameException),
            (validate_topic_name, "a{4}", "substitution name must not start", InvalidTopicNameException),
            (validate_topic_name, "a{b/c}", "substitution name must not contain", InvalidTopicNameException),
            (validate_full_topic_name, "a", "must be absolute", InvalidTopicNameException),
            (validate_full_topic_name, "/a//b", "must not contain repeated", InvalidTopicNameException),
            (validate_full_topic_name, f"/{'a' * 247}", "should not exceed '247'", InvalidTopicNameException),
        ],
    )
    def test_reasons(self, check, name, reason, error):
        with pytest.raises(error, match=reason):
            check(name)

    @pytest.mark.parametrize(
        ("check", "name"),
        [
            (validate_node_name, "my_node4"),
            (validate_namespace, "/"),
            (validate_namespace, "/a/b"),
            (validate_topic_name, "~/a"),
            (validate_topic_name, "{node}/a"),
            (validate_full_topic_name, "/a/b"),
        ],
    )
    def test_good_names(self, check, name):
        assert check(name) is True

    def test_services_have_their_own_error(self):
        with pytest.raises(InvalidServiceNameException):
            validate_full_topic_name("a", is_service=True)

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("a", "/ns/a"),
            ("/a", "/a"),
            ("~/a", "/ns/node/a"),
            ("{node}/a", "/ns/node/a"),
            ("/{node}{node}", "/nodenode"),
        ],
    )
    def test_expansion(self, name, expected):
        assert expand_topic_name(name, "node", "/ns") == expected

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            (("a?", "node", "/ns"), "topic name"),
            (("a", "no?de", "/ns"), "node name"),
            (("a", "node", "ns"), "namespace"),
        ],
    )
    def test_expansion_of_bad_names(self, words, error):
        with pytest.raises(ValueError, match=error):
            expand_topic_name(*words)

    def test_unknown_substitution(self, node):
        with pytest.raises(ValueError, match="unknown substitution"):
            node.create_publisher(Empty, "a/{nothing}", 1)

    @pytest.mark.parametrize("kind", ["publishers", "subscribers", "clients", "services"])
    def test_questions_to_the_graph(self, node, kind):
        count = getattr(node, f"count_{kind}")
        assert count("/nobody_has_this") == 0
        with pytest.raises(TypeError):
            count(1)
        with pytest.raises(ValueError, match="is invalid"):
            count("13")

    @pytest.mark.parametrize("name", ["/1st", "/a b", "rt/a", "/a//b"])
    def test_what_no_topic_can_be_called_is_left_out(self, node, name):
        domain, session = node.context.get_domain_id(), node.context.session
        endpoint = (name, dds_type("std_msgs/msg/Empty"), "RIHS01_0")
        tokens = (
            node_token(domain, "1f", 1, "/", "stranger"),
            endpoint_token(domain, "1f", 1, 2, PUBLISHER, ("/", "stranger"), endpoint, WireQoS()),
        )
        withdraw = [session.announce(token) for token in tokens]
        assert name not in dict(node.get_topic_names_and_types())
        assert name in dict(node.get_topic_names_and_types(no_demangle=True))
        assert node.get_publisher_names_and_types_by_node("stranger", "/") == []
        assert node.get_publisher_names_and_types_by_node("stranger", "/", no_demangle=True)
        recorder = Recorder(node, None, Selection(names=[name]))
        recorder._look()  # asks for the publishers of each topic
        for end in withdraw:
            end()


class TestArguments:
    @pytest.mark.parametrize(("depth", "error"), [(-1, ValueError), ("deep", TypeError), (None, TypeError)])
    def test_depth(self, node, depth, error):
        with pytest.raises(error):
            node.create_publisher(Empty, "a", depth)
        with pytest.raises(error):
            node.create_subscription(Empty, "a", lambda message: None, depth)

    @pytest.mark.parametrize("what", ["deadline", "lifespan", "liveliness_lease_duration"])
    def test_profiles_that_no_peer_would_understand(self, what):
        with pytest.raises(ValueError, match="must not be negative"):
            QoSProfile(depth=1, **{what: Duration(nanoseconds=-1)})
        with pytest.raises(ValueError, match="at most"):
            QoSProfile(depth=2**63)

    def test_depth_zero(self, node):
        assert node.create_publisher(Empty, "a", 0)
        assert node.create_subscription(Empty, "a", lambda message: None, QoSProfile(depth=0))

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            (["--ros-args", "-r", "not-a-rule"], "RCLInvalidROSArgsError"),
            (["--ros-args", "-p", "nothing"], "RCLInvalidROSArgsError"),
            (["--ros-args", "--no-such-flag"], "UnknownROSArgsError"),
        ],
    )
    def test_command_line(self, words, error):
        context = rclpy.Context()
        with pytest.raises(getattr(rclpy_implementation, error)):
            rclpy.init(context=context, args=words)
        assert not context.ok()

    def test_without_a_context(self):
        with pytest.raises(NotInitializedException):
            rclpy.create_node("n", context=rclpy.Context())


class TestHandles:
    def test_of_a_node_and_its_entities(self, node):
        things = [
            node.create_publisher(Empty, "a", 1),
            node.create_subscription(Empty, "a", lambda message: None, 1),
            node.create_client(Trigger, "b"),
            node.create_service(Trigger, "b", lambda request, response: response),
            node.create_timer(1000.0, lambda: None),
            node.create_guard_condition(lambda: None),
        ]
        for thing in things:
            assert isinstance(thing.handle, Handle)
            with thing.handle:
                pass
        with pytest.raises(AttributeError):
            node.handle = None
        node.destroy_publisher(things[0])
        with pytest.raises(InvalidHandle), things[0].handle:
            pass

    def test_of_a_destroyed_node(self, context):
        node = rclpy.create_node("short")
        publisher = node.create_publisher(Empty, "a", 1)
        node.destroy_node()
        node.destroy_node()  # again does nothing
        with pytest.raises(InvalidHandle):
            node.create_publisher(Empty, "a", 1)
        with pytest.raises(InvalidHandle):
            publisher.publish(Empty())

    def test_destroying_twice_says_no(self, node):
        for kind, thing in (
            ("publisher", node.create_publisher(Empty, "a", 1)),
            ("timer", node.create_timer(1000.0, lambda: None)),
            ("client", node.create_client(Trigger, "b")),
        ):
            destroy = getattr(node, f"destroy_{kind}")
            assert destroy(thing)
            assert not destroy(thing)


def test_modules_of_rclpy_are_attributes():
    names = "action clock duration executors logging node parameter qos task time utilities"
    script = f"import rclpy\nfor name in {names!r}.split(): getattr(rclpy, name)"
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(AttributeError):
        rclpy.no_such_module  # noqa: B018
