"""What an agent may ask of a mission, and the queue in which its requests go from its thread to the node's.

An agent, a language model with tools, runs in a thread of its own and knows nothing of ROS. It puts requests into
the queue and waits for replies; the node takes them out in its own time and lets `Steering` decide.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from openral_core.progress_judgement import ProgressReading
from openral_core.stop_conditions import StopCondition


@dataclass(frozen=True)
class Execute:
    """Run one skill until the gate has judged it; the reply tells how it ended."""

    skill: str
    """Manifest name."""
    task: str
    """One of the skill's task ids; empty for a skill without tasks."""
    instruction: str
    """Words for the policy; empty: the skill's own phrase for the task."""
    why: str = ""
    """The agent's reason, for the mission log."""
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Parameters of the goal, for the skill's `goal_params_schema`; empty: none."""
    stop_when: tuple[StopCondition, ...] = ()
    """Conditions that end the goal before its deadline."""
    max_steps: int = 0
    """Control steps after which the goal ends; 0: no such bound."""
    way: str = ""
    """Rung of the ladder by which a task that failed is tried anew; empty: as it is."""


@dataclass(frozen=True)
class QueryProgress:
    """What the reward monitor sees now, measured against words."""

    task: str
    window_s: float = 0.0


@dataclass(frozen=True)
class Look:
    """The newest image of a camera."""

    camera: str


@dataclass(frozen=True)
class Locate:
    """Where a thing is, by words or by a pixel of a camera."""

    words: str
    """Empty: the pixel."""
    camera: str = ""
    """Empty: the first camera that has depth."""
    u: float = 0.0
    """[px] column, from the left edge."""
    v: float = 0.0
    """[px] row, from the upper edge."""


@dataclass(frozen=True)
class ReadState:
    """The mission, the skills, what the bridge does, and the E-stop."""


@dataclass(frozen=True)
class ReadLog:
    """The newest steps of the mission log."""

    steps: int


@dataclass(frozen=True)
class Stop:
    """Every motion ends, whoever began it, and with it the mission."""

    why: str = ""
    wrong: str = ""
    """What is wrong with the arguments that came with it; it is done all the same."""


@dataclass(frozen=True)
class AskOperator:
    """A question to the operator; the next prompt is its answer."""

    question: str
    timeout_s: float = 60.0


@dataclass(frozen=True)
class Say:
    """Words for the mission log."""

    text: str


@dataclass(frozen=True)
class Decompose:
    """The steps that the agent means to take, for the mission log; it binds nobody."""

    steps: tuple[str, ...]


@dataclass(frozen=True)
class Finish:
    """The mission is over. `done` counts only if the gate agrees."""

    done: bool
    words: str
    nothing_to_do: bool = False
    """No skill had to run, as an observation of this mission showed; `words` say what it showed."""


Sensing = Look | QueryProgress | Locate
"""What is answered by looking at the world; it changes nothing."""
Reading = ReadState | ReadLog
"""What the reasoner itself knows; it changes nothing."""
Steered = Execute | AskOperator | Say | Decompose | Finish
"""What belongs to the mission of the agent that asks for it."""
Request = Sensing | Reading | Steered | Stop


@dataclass(frozen=True)
class Reply:
    """The answer to a request."""

    ok: bool
    text: str
    """At most a few sentences; data for the agent, never instructions."""
    image_png: bytes = b""
    reading: ProgressReading | None = None
    """Of a `QueryProgress` whose score can be trusted."""


class MissionOver(Exception):
    """The mission ended while the agent was still at work; its text says why."""


class RequestQueue:
    """A queue of requests between two threads. Each mission has one of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Request, Future[Reply]]] = deque()
        self._open: set[Future[Reply]] = set()
        self._closed: str | None = None

    def put(self, request: Request) -> Future[Reply]:
        """Ask; the future gets the reply, or MissionOver.

        It cannot be cancelled: only the thread that takes requests ends them, so that it never ends one twice.
        """
        future: Future[Reply] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._closed is not None:
                future.set_exception(MissionOver(self._closed))
                return future
            self._waiting.append((request, future))
            self._open.add(future)
        future.add_done_callback(self._open.discard)
        return future

    def take(self) -> list[tuple[Request, Future[Reply]]]:
        """Return the requests that came since the last call, in their order."""
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
        return taken

    def close(self, reason: str) -> None:
        """End every request that waits, and refuse later ones."""
        with self._lock:
            self._closed = reason
            self._waiting.clear()
            left = list(self._open)
        for future in left:
            if not future.done():
                future.set_exception(MissionOver(reason))
