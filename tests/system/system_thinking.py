"""A deployment whose language model never comes to an end of its thinking, with a skill that moves the arm."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from system_files import write_bare_scene, write_skill
from system_operator import Operator
from system_stack import Stack

from openral_reasoner.llm.fakes import Endpoint, Script

SLUG = "swinging"
LEFT = [0.1, 0.0, 0.0, -1.0]


class Thinking:
    """The deployment, its operator, and the endpoint that lets the reasoner wait."""

    def __init__(self, stack: Stack, operator: Operator, endpoint: Endpoint, slug: str = SLUG) -> None:
        self.stack, self.operator, self.endpoint, self._slug = stack, operator, endpoint, slug

    def begin(self) -> str:
        """Let the model think and the arm move, by a goal that is not the reasoner's; return the goal."""
        asked, operator = self.endpoint.requests, self.operator
        while self.endpoint.requests == asked:
            heard = operator.missions[-1].id if operator.missions else ""
            operator.say("open the drawer")
            operator.until(
                lambda heard=heard: self.endpoint.requests > asked or self._latched(heard),
                "the language model to be asked",
            )
        while not (goal := self._moving()):
            pass  # a machine at its limits sends chunks so late that the bridge refuses them and the goal fails
        return goal

    def _latched(self, before: str) -> bool:
        """Whether a later mission was refused: news of an E-stop's reset may come after the service's answer."""
        newest = self.operator.missions[-1] if self.operator.missions else None
        return newest is not None and newest.id != before and "estop_reset" in newest.message

    def _moving(self) -> str:
        """Send a goal; return it once it moves the arm, or nothing if it ended before."""
        self.handle = self.operator.send_goal(self._slug, "open the drawer", 600.0)
        goal, ended, status = (
            bytes(self.handle.goal_id.uuid).hex(),
            self.handle.get_result_async(),
            self.operator.status,
        )

        def moves() -> bool:
            return status[-1].active_goal == goal and not status[-1].holding

        self.operator.until(lambda: moves() or ended.done(), "motion")
        return goal if moves() else ""

    def until_held(self) -> None:
        """Wait until the bridge says that it holds and knows of no goal."""
        operator = self.operator
        operator.until(
            lambda: operator.status[-1].holding and not operator.status[-1].active_goal, "the arm to hold"
        )


@contextlib.contextmanager
def thoughtful() -> Iterator[tuple[Endpoint, dict[str, str]]]:
    """A model that thinks until the block ends, and what lets a reasoner that is started ask it."""
    thought = threading.Event()
    with Endpoint(Script([]), delay=thought) as endpoint:
        try:
            yield (
                endpoint,
                {"OPENRAL_REASONER_MODEL": "openai:fake", "OPENRAL_REASONER_BASE_URL": endpoint.url},
            )
        finally:
            thought.set()


@contextlib.contextmanager
def thinking(folder: Path) -> Iterator[Thinking]:
    """Start it; end it when the block ends. The record lies in `folder / "run"`."""
    skill = write_skill(folder, SLUG, action=LEFT)
    scene = write_bare_scene(folder, skills=[skill])
    words = (f"scene:={scene}", f"run_dir:={folder / 'run'}", "exit_when_done:=false", "memory_file:=")
    with thoughtful() as (endpoint, model):
        with mock.patch.dict("os.environ", model):
            stack = Stack(folder, "ros2", "launch", "openral", "deploy_sim.launch.py", *words)
        with stack, Operator(stack) as operator:
            operator.until_active(SLUG)
            operator.until(lambda: operator.missions, "the reasoner")
            yield Thinking(stack, operator, endpoint)
            stack.interrupt()
            stack.wait()
