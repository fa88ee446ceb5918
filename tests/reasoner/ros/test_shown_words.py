"""What `openral prompt` makes of words that the markup of its terminal would obey."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from openral.msg import Mission, MissionStep, MissionTask, Prompt
from rclpy.executors import SingleThreadedExecutor

from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.ros.qos import LATCHED, MISSION_LOG
from openral_reasoner.ros.mission_client import show
from openral_reasoner.ros.prompt_client import converse

CLEAR = "\x1b[2J"


class OddReasoner:
    """Asks at each prompt, and ends its mission shortly after; all of its words are odd."""

    def __init__(self, node: Any) -> None:
        self._node, self._asked = node, Mission()
        self._missions = node.create_publisher(Mission, "mission", LATCHED)
        self._steps = node.create_publisher(MissionStep, "mission_log", MISSION_LOG)
        node.create_subscription(Prompt, "prompt", self._on_prompt, 10)
        node.create_timer(1.0, self._end)
        self._missions.publish(Mission(state="idle"))

    def _on_prompt(self, prompt: Any) -> None:
        task = MissionTask(text="x", state=CLEAR, progress=float("nan"), match_score=float("inf"))
        self._asked = Mission(
            id=prompt.id,
            text=prompt.text,
            state="active",
            message=f"works on [/red] {CLEAR}",
            question=f"which{CLEAR}?",
            answers=[f"red{CLEAR}", f"blue{CLEAR}"],
            tasks=[task],
        )
        self._missions.publish(self._asked)
        self._steps.publish(MissionStep(kind="question", mission=prompt.id, state="active", reason="which?"))

    def _end(self) -> None:
        if self._asked.id:
            self._asked.state = "done"
            self._missions.publish(self._asked)


@pytest.fixture
def odd_reasoner() -> Iterator[None]:
    """An odd reasoner beside the commands, which have a context of their own."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("odd", namespace=DEFAULT_NAMESPACE, context=context)
    OddReasoner(node)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    yield
    executor.shutdown()
    thread.join()
    node.destroy_node()
    rclpy.try_shutdown(context=context)


@pytest.mark.usefixtures("odd_reasoner")
def test_words_of_a_mission_are_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    assert converse("open [/red] it", 60.0) == 0
    shown = capsys.readouterr().out
    assert "It is answered by `openral prompt red" in shown
    assert "[/red]" in shown
    assert CLEAR not in shown


@pytest.mark.usefixtures("odd_reasoner")
def test_numbers_of_a_mission_that_are_none_are_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert converse("open it", 60.0) == 0
    capsys.readouterr()
    assert show(60.0, DEFAULT_NAMESPACE, as_json=True) == 0
    task = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["tasks"][0]
    assert (task["progress"], task["match_score"], task["text"]) == (None, None, "x")
