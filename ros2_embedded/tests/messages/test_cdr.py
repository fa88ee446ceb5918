"""CDR: round trips, agreement with an independent implementation, and bad bytes."""

from __future__ import annotations

import random
import struct
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from example_interfaces.msg import WString
from rosbags.typesys import Stores, get_typestore
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import ByteMultiArray
from test_msgs.msg import BasicTypes, BoundedSequences, UnboundedSequences, WStrings

from ros2_embedded.rosidl.cdr_support import SerializationError
from ros2_embedded.rosidl.cdr_writer import make_serializer
from ros2_embedded.rosidl.classes import class_of, deserialize, serialize
from ros2_embedded.rosidl.definition import NUMERIC, FieldType
from ros2_embedded.rosidl.parser import parse_message
from ros2_embedded.rosidl.registry import get_definition, interfaces_of

STORE = get_typestore(Stores.ROS2_JAZZY)
NAMES = sorted(name for name in STORE.fielddefs if "Gid" not in name and "Char" not in name)


def fill(name: str, rng: random.Random) -> Any:
    """A message with random contents."""
    message = class_of(name)()
    known = message.get_fields_and_field_types()  # without the filler of an empty message
    for field in get_definition(name).fields:
        if field.name in known:
            setattr(message, field.name, random_value(field.type, rng))
    return message


def random_value(kind: FieldType, rng: random.Random) -> Any:
    """A value that fits a field type."""
    if kind.kind != "single":
        count = kind.size if kind.kind == "array" else rng.randint(0, min(kind.size or 3, 3))
        return [random_value(FieldType(kind.base), rng) for _ in range(count)]
    if not kind.is_primitive:
        return fill(kind.base, rng)
    if kind.base in NUMERIC:
        return float(rng.randint(-99, 99)) if kind.base.startswith("float") else rng.randint(0, 99)
    values = {"bool": rng.random() < 0.5, "byte": bytes([rng.randint(0, 255)])}
    return values.get(kind.base, "é" * rng.randint(0, 5))


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_and_agreement_with_rosbags(name: str) -> None:
    rng = random.Random(name)
    for _ in range(3):
        message = fill(name, rng)
        data = bytes(serialize(message))
        assert deserialize(data, type(message)) == message
        theirs = STORE.deserialize_cdr(data, name)
        assert bytes(STORE.serialize_cdr(theirs, name)) == data


def test_image_data_may_be_any_bytes_like() -> None:
    pixels = np.arange(12, dtype=np.uint8)
    forms = [pixels, pixels.tobytes(), bytearray(pixels), list(pixels.tolist()), pixels.reshape(2, 6)]
    assert len({bytes(serialize(Image(data=form))) for form in forms}) == 1


def test_float_arrays_are_converted() -> None:
    message = JointState(position=np.array([1, 2], np.float32))
    assert list(deserialize(serialize(message), JointState).position) == [1.0, 2.0]


@pytest.mark.parametrize("value", [-1, 256, 1.5, np.nan, np.inf])
def test_numbers_of_an_array_that_do_not_fit_are_refused(value: float) -> None:
    with pytest.raises(SerializationError, match="uint8"):
        serialize(Image(data=np.array([7, value])))


def test_whole_numbers_of_any_array_fit_integers() -> None:
    for kind in (bool, np.int64, np.float32, ">u2", object):
        assert list(deserialize(serialize(Image(data=np.array([0, 1], kind))), Image).data) == [0, 1]


@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_arrays_of_any_shape_keep_to_a_bound(shape: tuple[int, ...]) -> None:
    with pytest.raises(SerializationError, match="at most 3"):
        serialize(BoundedSequences(float64_values=np.zeros(shape)))
    assert serialize(BoundedSequences(float64_values=np.zeros((3, 1))))


@pytest.mark.parametrize("text", ["string<=3 x", "wstring<=3 x", "string<=3[] x", "string<=3[1] x"])
def test_texts_beyond_their_bound_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    definition = parse_message(text, "pkg/msg/Bounded")
    monkeypatch.setattr("ros2_embedded.rosidl.cdr_writer.get_definition", lambda name: definition)
    function = make_serializer(definition)
    for value in ("abc", "grü", ""):
        assert function(SimpleNamespace(_x=[value] if "[" in text else value))
    with pytest.raises(SerializationError, match="at most 3"):
        function(SimpleNamespace(_x=["abcd"] if "[" in text else "abcd"))


def test_an_element_of_several_bytes_is_refused() -> None:
    with pytest.raises(SerializationError, match="length 1"):
        serialize(ByteMultiArray(data=[b"a", b"bc"]))


def test_wrong_value_names_the_field() -> None:
    message = Image()
    message.header.frame_id = 3
    with pytest.raises(SerializationError, match=r"header.*frame_id"):
        serialize(message)


@pytest.mark.parametrize("cut", [0, 3, 4, 11, 20, 40])
def test_truncated_bytes_are_refused(cut: int) -> None:
    data = bytes(serialize(JointState(name=["a", "b"], position=[1.0])))
    with pytest.raises(SerializationError):
        deserialize(data[:cut], JointState)


def test_random_bytes_never_raise_anything_else() -> None:
    rng = random.Random(0)
    for _ in range(2000):
        data = b"\x00\x01\x00\x00" + rng.randbytes(rng.randint(0, 80))
        try:
            deserialize(data, JointState)
        except SerializationError:
            continue


@pytest.mark.parametrize("name", ["bool_values", "byte_values", "float64_values", "string_values"])
def test_sequences_beyond_their_bound_are_refused(name: str) -> None:
    element = {"bool": True, "byte": b"a", "string": "a"}.get(name.partition("_")[0], 1.0)
    short, long = (UnboundedSequences(**{name: [element] * count}) for count in (3, 4))
    assert len(getattr(deserialize(serialize(short), BoundedSequences), name)) == 3
    with pytest.raises(SerializationError, match="4 elements where at most 3 are allowed"):
        deserialize(serialize(long), BoundedSequences)


def test_byte_and_bool_scalars() -> None:
    message = BasicTypes(
        bool_value=True, byte_value=b"\xff", char_value=200, int8_value=-5, uint64_value=2**63
    )
    assert deserialize(serialize(message), BasicTypes) == message


OWN = [
    f"{package}/msg/{name}"
    for package in ("control_msgs", "example_interfaces", "test_msgs", "vision_msgs")
    for name in interfaces_of(package)["msg"]
]


@pytest.mark.parametrize("name", OWN)
def test_round_trip_of_messages_no_store_has(name: str) -> None:
    rng = random.Random(name)
    for message in (class_of(name)(), fill(name, rng), fill(name, rng)):
        assert deserialize(bytes(serialize(message)), type(message)) == message


def test_wide_strings() -> None:
    text = "grün \U0001f600"
    data = bytes(serialize(WString(data=text)))
    # Units of UTF-16 in four bytes each, as rosidl_typesupport_fastrtps writes them; no terminator.
    assert data[4:8] == struct.pack("<I", 7)
    assert data[8:12] == struct.pack("<I", ord("g"))
    assert data[-4:] == struct.pack("<I", 0xDE00)
    assert deserialize(data, WString).data == text
    with pytest.raises(SerializationError):
        deserialize(data[:-1], WString)
    with pytest.raises(SerializationError, match="16 bits"):
        deserialize(data[:-4] + b"\1\1\1\1", WString)
    assert WStrings().wstring_value_default3 == "ハローワールド"
    assert WStrings.get_fields_and_field_types()["array_of_wstrings"] == "wstring[3]"
