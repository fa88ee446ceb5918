"""Messages and answers as bytes, and what an answer is where its servant failed."""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import OpenralError
from openral_training.rl.workers.worker_handle import Servant


def pack(message: Any) -> bytes:
    """Return a message as bytes. multiprocessing would share the memory of tensors, and changes of it, instead."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> Any:
    """Return what `pack` was given; only for what a process of this very run wrote."""
    return pickle.loads(packed)  # noqa: S301  nobody else has the other end


@dataclass(frozen=True)
class Broken:
    """What a servant answers that failed in a way nobody foresaw: its process is of no use any more."""

    why: str


def opened(packed: bytes) -> Any:
    """Return an answer. Raises as `Line.receive`."""
    answer = unpack(packed)
    if isinstance(answer, OpenralError):
        raise answer
    if isinstance(answer, Broken):
        raise EOFError(answer.why)
    return answer


def answer(servant: Servant, packed: bytes) -> bytes:
    """Let a servant carry out a packed message and return its packed answer, or what went wrong."""
    try:
        return pack(servant(unpack(packed)))
    except OpenralError as error:
        return pack(error)
    except Exception as error:  # noqa: BLE001  the other end says it, if replacing the process does not help
        return pack(Broken(_in_a_line(error)))


def _in_a_line(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {text}"
