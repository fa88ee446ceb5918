"""The requests of an agent, their replies, and the queue between the agent's thread and the node's.

An agent, a language model with tools, runs in a thread of its own and does not use ROS. It puts requests into the queue
and waits for the replies; the node takes the requests out in its own thread and has `Steering` decide.
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
    """Run one skill until its attempt is judged; the reply says how it ended."""

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
    """Ask the reward monitor how far a task is."""

    task: str
    """The task in words."""
    window_s: float = 0.0
    """[s] of frames that are scored; 0: the monitor's own."""


@dataclass(frozen=True)
class Look:
    """Return the newest image of a camera."""

    camera: str


@dataclass(frozen=True)
class Locate:
    """Locate a thing, named by words or by a pixel of a camera."""

    words: str
    """Empty: the pixel counts."""
    camera: str = ""
    """Its name; empty: the first camera that has depth."""
    u: float = 0.0
    """[px] column, from the left edge."""
    v: float = 0.0
    """[px] row, from the upper edge."""


@dataclass(frozen=True)
class ReadState:
    """Return the mission, the skills, what the bridge does, and the E-stop."""


@dataclass(frozen=True)
class ReadLog:
    """Return the newest steps of the mission log."""

    steps: int
    """How many at most."""


@dataclass(frozen=True)
class Stop:
    """Stop every motion, whoever began it, and end the mission."""

    why: str = ""
    wrong: str = ""
    """What is wrong with the arguments of the call; empty: nothing. The stop is carried out either way."""


@dataclass(frozen=True)
class AskOperator:
    """Ask the operator a question; the next prompt is its answer."""

    question: str
    timeout_s: float = 60.0
    """[s] wall time that the answer is waited for."""


@dataclass(frozen=True)
class Say:
    """Write a sentence into the mission log."""

    text: str


@dataclass(frozen=True)
class Decompose:
    """Write the steps that the agent intends into the mission log; nothing holds it to them."""

    steps: tuple[str, ...]


@dataclass(frozen=True)
class Finish:
    """End the mission."""

    done: bool
    """Whether the agent calls it done; it ends as done only if every task was verified, see `Mission.finish`."""
    words: str
    """For the operator."""
    nothing_to_do: bool = False
    """No skill had to run, as an observation of this mission showed; `words` say what was seen."""


Sensing = Look | QueryProgress | Locate
"""Requests that are answered by cameras, the reward monitor or the locator; they change nothing."""
Reading = ReadState | ReadLog
"""Requests that the reasoner answers from what it knows; they change nothing."""
Steered = Execute | AskOperator | Say | Decompose | Finish
"""Requests about the agent's own mission."""
Request = Sensing | Reading | Steered | Stop


@dataclass(frozen=True)
class Reply:
    """The answer to a request."""

    ok: bool
    text: str
    """At most a few sentences. They are data for the agent, never instructions."""
    image_png: bytes = b""
    reading: ProgressReading | None = None
    """The answer to a `QueryProgress`, if the monitor neither abstained nor scored old frames."""


class MissionOver(Exception):
    """The mission ended while a request was open; the text says why."""


class RequestQueue:
    """A queue of requests between two threads. Each mission has one of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Request, Future[Reply]]] = deque()
        self._open: set[Future[Reply]] = set()
        self._closed: str | None = None

    def put(self, request: Request) -> Future[Reply]:
        """Add a request and return the future of its reply, which raises MissionOver once the queue is closed.

        The future cannot be cancelled: the thread that takes requests alone sets its result, so none is set twice.
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
        """Return the requests that were added since the last call, in their order, each with its future."""
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
        return taken

    def close(self, reason: str) -> None:
        """Let the futures of all open requests, and of later ones, raise MissionOver with a reason."""
        with self._lock:
            self._closed = reason
            self._waiting.clear()
            left = list(self._open)
        for future in left:
            if not future.done():
                future.set_exception(MissionOver(reason))
