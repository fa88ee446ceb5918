"""Message classes lie in the modules, and have the attributes, that rosidl's generator gives them."""

from __future__ import annotations

import copy
import pickle
from array import array

import numpy as np
import pytest
import std_srvs.srv
from example_interfaces.action import Fibonacci
from sensor_msgs.msg import Image, LaserScan
from std_msgs.msg import Empty, Int16MultiArray, String
from std_srvs.srv import Trigger
from test_msgs.msg import Arrays, BoundedSequences, Defaults, UnboundedSequences

import rclpy
from rclpy.action import ActionClient
from rosidl_parser.definition import (
    AbstractSequence,
    Array,
    BasicType,
    BoundedSequence,
    NamespacedType,
    UnboundedString,
)
from rosidl_runtime_py import message_to_ordereddict


def test_classes_lie_in_modules_of_their_own() -> None:
    from example_interfaces.action._fibonacci import Fibonacci_SendGoal, Fibonacci_SendGoal_Request
    from sensor_msgs.msg._laser_scan import LaserScan as same
    from std_srvs.srv._trigger import Trigger_Event, Trigger_Request

    assert str(String) == "<class 'std_msgs.msg._string.String'>"
    assert same is LaserScan
    assert (Trigger.Request, Trigger.Event) == (Trigger_Request, Trigger_Event)
    assert Fibonacci.Impl.SendGoalService is Fibonacci_SendGoal
    assert Fibonacci_SendGoal.Request is Fibonacci_SendGoal_Request
    assert std_srvs.srv._trigger.Trigger is Trigger
    with pytest.raises(ModuleNotFoundError):
        __import__("std_msgs.msg._no_such_message")


def test_messages_can_be_pickled_and_copied() -> None:
    message = Image(height=2, data=b"ab")
    assert pickle.loads(pickle.dumps(message)) == copy.deepcopy(message) == message  # noqa: S301


def test_slots_carry_an_underscore() -> None:
    message = String(data="a")
    assert message.__slots__[0] == "_data"
    message._data = "b"
    assert message.data == "b"
    assert (UnboundedString(),) == message.SLOT_TYPES


def test_slot_types_are_those_of_rosidl_parser() -> None:
    types = dict(zip(LaserScan.get_fields_and_field_types(), LaserScan.SLOT_TYPES, strict=True))
    assert types["header"] == NamespacedType(["std_msgs", "msg"], "Header")
    assert isinstance(types["ranges"], AbstractSequence)
    assert types["ranges"].value_type == BasicType("float")
    arrays = dict(zip(Arrays.get_fields_and_field_types(), Arrays.SLOT_TYPES, strict=True))
    assert arrays["int8_values"] == Array(BasicType("int8"), 3)
    assert BoundedSequence(BasicType("int8"), 3) in BoundedSequences.SLOT_TYPES


def test_what_is_no_array_becomes_one() -> None:
    message = UnboundedSequences(int16_values=b"\x01\x00\x02\x00", float32_values=[1, 2])
    assert message.int16_values == array("h", [1, 2])
    assert message.float32_values == array("f", [1.0, 2.0])
    message.int32_values = range(3)
    message.uint16_values = array("B", [1, 2])
    assert (message.int32_values.typecode, message.uint16_values.typecode) == ("i", "H")
    message.uint8_values = b"image"
    assert message.uint8_values == b"image"  # not copied
    pixels = np.zeros(4, np.uint8)
    message.uint8_values = pixels
    assert message.uint8_values is pixels
    assert Arrays(float64_values=[1, 2, 3]).float64_values.dtype == np.float64
    assert message_to_ordereddict(Int16MultiArray(data=b"\x01\x00\x02\x00"))["data"] == [1, 2]


def test_what_does_not_fit_an_array_raises_at_once() -> None:
    with pytest.raises(OverflowError):
        UnboundedSequences(uint8_values=[1000])
    with pytest.raises(TypeError):
        UnboundedSequences().int32_values = [1.5]
    with pytest.raises(AssertionError, match="'int32_values' field"):
        UnboundedSequences(int32_values=["a"], check_fields=True)


def test_text_of_messages_shows_numbers_as_rclpy_does() -> None:
    assert "uint8_values=[1, 2]" in repr(UnboundedSequences(uint8_values=b"\x01\x02"))
    assert "int8_values=array([0, 0, 0], dtype=int8)" in repr(Arrays())


def test_an_empty_message_has_no_fields() -> None:
    assert Empty.get_fields_and_field_types() == {}
    assert repr(Empty()) == "std_msgs.msg.Empty()"
    assert Empty.SLOT_TYPES == ()


def test_defaults_have_names() -> None:
    assert Defaults.INT16_VALUE__DEFAULT == Defaults().int16_value == -1000


def test_a_look_up_of_an_actions_service_harms_no_client() -> None:
    from example_interfaces.action import Fibonacci_GetResult

    assert Fibonacci_GetResult.Request is Fibonacci.Impl.GetResultService.Request
    with rclpy.init(args=[]) as context:
        node = rclpy.create_node("asker", context=context)
        client = ActionClient(node, Fibonacci, "count")
        assert node.destroy_client(client)
        assert not node.destroy_client(client)
        node.destroy_node()
