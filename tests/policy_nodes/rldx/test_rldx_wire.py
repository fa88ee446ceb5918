"""The dialect of RLDX-1: its bytes, as upstream's serialiser writes them, and what a reader refuses."""

from __future__ import annotations

import contextlib
import io
import random
import tracemalloc

import msgpack
import numpy as np
import pytest

from openral_sidecar.errors import WireError
from openral_sidecar.wires.rldx import ActionPart, ModalityConfig, decode, encode

PING = b"\x82\xa8endpoint\xa4ping\xa9api_token\xa6secret"
NUMBERS = (
    b"\x81\xa8action.x\x82\xb1__ndarray_class__\xc3\xa6as_npy\xc4\x88\x93NUMPY\x01\x00v\x00"
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 1), }" + 55 * b" " + b"\n"
    b"\x00\x00\x80?\x00\x00\x00\xbf"
)
CONFIG = (
    b"\x81\xa6action\x82\xb8__ModalityConfig_class__\xc3\xa7as_json\x85\xaddelta_indices\x92\x00\x01"
    b"\xadmodality_keys\x91\xadeef_pos_delta\xb6sin_cos_embedding_keys\xc0\xb7mean_std_embedding_keys\xc0"
    b"\xaeaction_configs\x91\x84\xa3rep\xa5DELTA\xa4type\xa3EEF\xa6format\xa7DEFAULT\xa9state_key\xc0"
)
ACTION = ModalityConfig((0, 1), ("eef_pos_delta",), action_configs=(ActionPart("DELTA", "EEF", "DEFAULT"),))


def upstream(value: object) -> bytes:
    """What `MsgSerializer.to_bytes` does with arrays, written from its description."""

    def mark(array: np.ndarray) -> dict[str, object]:
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        return {"__ndarray_class__": True, "as_npy": file.getvalue()}

    packed: bytes = msgpack.packb(value, default=mark)
    return packed


def test_golden_bytes() -> None:
    assert encode({"endpoint": "ping", "api_token": "secret"}) == PING
    assert encode({"action": ACTION}) == CONFIG
    assert decode(CONFIG) == {"action": ACTION}
    array = np.array([1.0, -0.5], np.float32).reshape(1, 2, 1)
    assert encode({"action.x": array}) == NUMBERS
    np.testing.assert_array_equal(decode(NUMBERS)["action.x"], array)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype=np.uint8).reshape(1, 2, 2, 2, 3),
        np.array(3.5),
        np.zeros((0, 3), np.float32),
        np.arange(4, dtype=">i4"),
        np.array([True, False]),
        np.array([0.5], np.float16),
        np.asfortranarray(np.arange(6, dtype=np.int64).reshape(2, 3)),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}",
)
def test_arrays_are_those_of_upstream_and_survive(array: np.ndarray) -> None:
    assert encode({"a": array}) == upstream({"a": array})
    back = decode(upstream({"a": array}))["a"]
    np.testing.assert_array_equal(back, array)
    assert (back.shape, back.dtype) == (array.shape, array.dtype.newbyteorder("="))
    assert back.flags.writeable
    assert back.flags.c_contiguous


def test_tuples_arrive_as_lists_and_numpy_numbers_as_python() -> None:
    assert decode(encode(({"a": (1, 2)}, {"n": np.float32(0.5), "b": np.bool_(True)}))) == [
        {"a": [1, 2]},
        {"n": 0.5, "b": True},
    ]


def test_a_newer_server_may_say_more_of_a_modality() -> None:
    newer = {"delta_indices": [0], "modality_keys": ["a"], "augmentation": "none"}
    frame = msgpack.packb({"__ModalityConfig_class__": True, "as_json": newer})
    assert decode(frame) == ModalityConfig((0,), ("a",))


def npy(header: str, data: bytes = bytes(4)) -> bytes:
    text = header.encode() + b"\n"
    file = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data
    return msgpack.packb({"__ndarray_class__": True, "as_npy": file})


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\xc1",
        b"\xc7\x01\x05x",
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999,), }"),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"),
        npy("{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }"),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }"),
        npy("__import__('os').abort()"),
        msgpack.packb({"__ndarray_class__": True, "as_npy": b"\x80\x04K\x01."}),
        msgpack.packb({"__ndarray_class__": True}),
        msgpack.packb({"__ModalityConfig_class__": True, "as_json": {"delta_indices": [0]}}),
        msgpack.packb({"__ModalityConfig_class__": True, "as_json": [1]}),
        bytes(17 * 1024 * 1024),
    ],
    ids=range(14),
)
def test_what_is_no_message_is_refused_without_taking_memory(frame: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(WireError):
        decode(frame)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_what_cannot_be_written_is_refused() -> None:
    for value in (
        object(),
        np.array([object()]),
        np.array(["words"]),
        {"big": np.zeros(17 * 2**20, np.uint8)},
    ):
        with pytest.raises(WireError):
            encode(value)


def test_damaged_frames_are_read_or_refused() -> None:
    rng = random.Random(7)
    sound = encode([{"a": np.arange(8, dtype=np.float32).reshape(2, 4), "m": ACTION}, {"text": "x" * 40}])
    for _ in range(5000):
        frame = bytearray(sound)
        for _ in range(rng.randint(1, 4)):
            frame[rng.randrange(len(frame))] = rng.randrange(256)
        with contextlib.suppress(WireError):
            decode(bytes(frame[: rng.randint(1, len(frame))]))
