"""Frames that are almost messages."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from openral_sidecar.wires import openral as wire

INTERESTING = [
    b"\xdd\xff\xff\xff\xff",
    b"\xdf\x7f\xff\xff\xff",
    b"\xc6\xff\xff\xff\xff",
    b"\x91" * 600,
    b"\xc9\0\0\0\x08",
]
"""Headers of long lists, maps, byte strings and extensions, and a deep nest."""


def mutations(frames: Sequence[bytes], count: int, seed: int) -> Iterator[bytes]:
    """Yield `count` frames, each made from one of `frames` by one to four changes; the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        frame = bytearray(chance.choice(frames))
        for _ in range(chance.randint(1, 4)):
            _change(frame, frames, chance)
        yield bytes(frame)


def _change(frame: bytearray, frames: Sequence[bytes], chance: random.Random) -> None:
    place = chance.randrange(len(frame) + 1)
    kind = chance.randrange(6)
    if kind == 0:
        frame[place : place + 1] = chance.randbytes(1)
    elif kind == 1:
        del frame[place:]
    elif kind == 2:
        frame[place:place] = chance.choice(INTERESTING)
    elif kind == 3:
        frame[place : place + chance.randint(1, 16)] = chance.randbytes(chance.randint(0, 16))
    elif kind == 4:
        other = chance.choice(frames)
        frame[place:] = other[chance.randrange(len(other)) :]
    else:
        header = chance.randrange(min(64, len(frame)) + 1)  # where names, lengths and types are
        frame[header : header + 1] = bytes([chance.randrange(256)])


def some_request(op: str, **fields: object) -> bytes:
    """Return a request of the `openral` dialect as a client sends it, with fields changed."""
    message = {"v": 1, "id": 1, "op": op, "token": "", "wait_ms": 60_000, "data": {}, **fields}
    return wire.pack(message)
