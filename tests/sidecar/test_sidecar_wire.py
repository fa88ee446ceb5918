"""Values survive the way over the wire, and bytes that are no message are refused without cost."""

from __future__ import annotations

import msgpack
import numpy as np
import pytest

from openral_sidecar.errors import WireError
from openral_sidecar.wires import openral as wire

DTYPES = sorted(wire.DTYPES)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (2, 3, 4)])
def test_arrays_come_back_as_they_were(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.asarray(np.random.default_rng(0).random(shape) * 100).astype(dtype)
    back = wire.unpack(wire.pack({"a": array}))["a"]
    np.testing.assert_array_equal(back, array)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.flags.c_contiguous
    assert back.flags.writeable


def test_views_and_foreign_byte_orders_arrive_in_c_order() -> None:
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    for view in (image[::-1, ::-1], image.T, np.asfortranarray(image), np.arange(5, dtype=">f4")):
        back = wire.unpack(wire.pack(view))
        np.testing.assert_array_equal(back, view)
        assert back.flags.c_contiguous


def test_plain_values_come_back_as_they_were() -> None:
    value = {
        "none": None,
        "yes": True,
        "n": -(2**40),
        "x": 0.5,
        "text": "Greifer zu",
        "raw": b"\0\1",
        "list": [1, {}],
    }
    assert wire.unpack(wire.pack(value)) == value
    assert wire.unpack(wire.pack({"n": np.int64(3), "t": (1, 2)})) == {"n": 3, "t": [1, 2]}


@pytest.mark.parametrize(
    "value",
    [
        {1, 2},
        object(),
        2**80,
        np.array(["text"]),
        np.array([1j]),
        np.array([None]),
        np.zeros((1,) * 9),
        "\ud800",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_form_on_the_wire_is_refused(value: object) -> None:
    with pytest.raises(WireError):
        wire.pack({"value": value})


def test_a_message_has_a_largest_size() -> None:
    with pytest.raises(WireError, match="at most 16 MiB"):
        wire.pack(np.zeros(wire.MAX_BYTES, np.uint8))
    with pytest.raises(WireError, match="at most"):
        wire.unpack(bytes(wire.MAX_BYTES + 1))


def test_any_reader_of_msgpack_can_read_a_message() -> None:
    data, value = msgpack.unpackb(
        wire.pack({"x": np.array([1, 2], "<u2"), "text": "a", "y": np.array([3], np.uint8)})
    )
    assert data == b"\1\0\2\0\3"
    assert value == {"x": {"__array__": ["<u2", [2]]}, "text": "a", "y": {"__array__": ["|u1", [1]]}}


def message(value: bytes, data: bytes = b"") -> bytes:
    return b"\x92\xc6" + len(data).to_bytes(4, "big") + data + value


def array(fields: object) -> bytes:
    return msgpack.packb({wire.ARRAY: fields})


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\xc1",
        msgpack.packb({"v": 1}),
        message(b""),
        message(b"\x92\x01"),
        message(b"\x01\x01"),
        message(b"\x01", b"data of no array"),
        b"\x92\xc6\xff\xff\xff\xff\x01",
        message(b"\xdd\xff\xff\xff\xff"),
        message(b"\xdf\xff\xff\xff\xff"),
        message(b"\xc6\xff\xff\xff\xff"),
        message(b"\x91" * 5000),
        message(b"\x81\x91\x01\x01"),
        message(msgpack.packb(msgpack.ExtType(5, b"x"))),
        message(array(1), b"1234"),
        message(array(["<f4", [2]]), b"1234"),
        message(array(["<f4", [-1]])),
        message(array(["<f4", [2**62, 2**62, 0]])),
        message(array(["|O", [1]]), b"12345678"),
        message(array(["<f4", [1.0]]), b"1234"),
        message(array([["<f4"], [1]]), b"1234"),
        message(array(["<f4", [True]]), b"1234"),
        message(array(["<f4", [1] * 40]), b"1234"),
        message(b"\x92" + array(["<f4", [1]]) * 2, b"1234"),
    ],
    ids=lambda frame: frame[:24].hex(),
)
def test_bytes_that_are_no_message_are_refused(frame: bytes) -> None:
    with pytest.raises(WireError):
        wire.unpack(frame)
