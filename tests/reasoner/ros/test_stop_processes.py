"""A goal that another client sent is ended by words to the reasoner, among real processes; so is one on a hung node."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import rclpy
from openral.action import ExecuteSkill
from openral.msg import ControlStatus, Mission, MissionStep, Prompt, SkillInfo
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from reasoner_graph import PATIENCE_S, Graph, end_of

from openral_core.ros.qos import LATCHED, MISSION_LOG, SKILLS

CANCELED = ExecuteSkill.Result.CANCELED
LONG_S = 900.0


class Client:
    """Somebody else in the graph, who sends goals and words and keeps what the reasoner says."""

    def __init__(self) -> None:
        self._context = rclpy.Context()
        self._context.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
        self.node = rclpy.create_node("client", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self.missions: list[Any] = []
        self.steps: list[Any] = []
        self.node.create_subscription(Mission, "/openral/mission", self.missions.append, LATCHED)
        self.node.create_subscription(MissionStep, "/openral/mission_log", self.steps.append, MISSION_LOG)
        self.prompts = self.node.create_publisher(Prompt, "/openral/prompt", 10)
        self.skills = self.node.create_publisher(SkillInfo, "/openral/skills", SKILLS)
        self._goals = ActionClient(self.node, ExecuteSkill, "/openral/skills/fake/execute")

    def until(self, condition: Callable[[], object], what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, f"{what}: {self.reasons()}"
            self._executor.spin_once(timeout_sec=0.05)

    def goal(self) -> Any:
        """Send a goal of nobody's mission; return the future of its result once it is accepted."""
        self.until(self._goals.server_is_ready, "the action server")
        sent = self._goals.send_goal_async(
            ExecuteSkill.Goal(instruction="open the drawer", deadline_s=LONG_S)
        )
        self.until(sent.done, "an answer to the goal")
        assert sent.result().accepted
        return sent.result().get_result_async()

    def say(self, text: str, prompt_id: str = "") -> str:
        """Say something; return the id of the words once the reasoner has logged what became of them."""
        prompt_id = prompt_id or uuid4().hex
        self.until(lambda: self.missions and self.prompts.get_subscription_count(), "the reasoner")
        self.prompts.publish(Prompt(id=prompt_id, text=text, source="test"))
        self.until(
            lambda: any(step.mission[:50] == prompt_id[:50] for step in self.steps), f"an echo of {text!r}"
        )
        return prompt_id

    def reasons(self) -> str:
        return "\n".join(step.reason for step in self.steps)

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        self._context.try_shutdown()


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    graph = Graph(tmp_path)
    yield graph
    graph.close()


@pytest.fixture
def client(graph: Graph) -> Iterator[Client]:
    client = Client()
    yield client
    client.close()


def test_words_stop_a_goal_that_somebody_else_sent(graph: Graph, client: Client, embedded: bool) -> None:
    graph.skill(max_execution_s=LONG_S)
    reasoner = graph.reasoner()
    client.until(lambda: client.missions, "the reasoner")
    stops = ("hold on", "don't move", "no no no stop it", "s t o p", "Stój!", "停下", "no")
    # rcl is a C library, to which a zero byte is the end of a string.
    for words in (*stops, "e-st\0op") if embedded else stops:
        result = client.goal()
        client.say(words)
        client.until(result.done, f"the end of the goal after {words!r}")
        assert (result.result().result.outcome, result.result().result.check) == (CANCELED, "client_cancel")
    assert reasoner.poll() is None


def test_an_interrupted_reasoner_leaves_no_goal_of_its_own_running(graph: Graph, client: Client) -> None:
    graph.skill(max_execution_s=LONG_S)
    active: list[str] = []
    client.node.create_subscription(
        ControlStatus, "/openral/control_status", lambda status: active.append(status.active_goal), 10
    )
    reasoner = graph.reasoner("open the drawer")
    client.until(lambda: active and active[-1], "a goal")
    reasoner.send_signal(signal.SIGTERM)
    code, output = end_of(reasoner)
    assert code == 0, output
    assert graph.mission()["state"] == "stopped"
    active.clear()
    client.until(lambda: active and not active[-1], "the end of the goal")


def test_the_prompt_command_stops_it_and_says_so(graph: Graph, client: Client) -> None:
    graph.skill(max_execution_s=LONG_S)
    graph.reasoner()
    for words, code in (("hey stop", 0), ("open\tthe\x07drawer", 1)):
        result = client.goal()
        ended, output = end_of(graph.prompt(words, "--patience", "60"))
        assert ended == code, output
        assert ("no mission is running" in output) is (code == 0), output
        assert ("U+0007" in output) is (code == 1), output
        if code:
            assert not result.done()
        else:
            client.until(result.done, "the end of the goal")


def test_words_stop_a_goal_of_a_skill_that_the_reasoner_does_not_know(graph: Graph, client: Client) -> None:
    """An action server counts even if what its node announces is refused."""
    graph.skill(max_execution_s=LONG_S, tag="x" * 1000)
    graph.reasoner()
    result = client.goal()
    client.say("wait")
    client.until(result.done, "the end of the goal")
    assert result.result().result.outcome == CANCELED


def test_an_odd_prompt_orders_nothing(graph: Graph, client: Client) -> None:
    graph.skill()
    graph.reasoner()
    client.until(lambda: client.missions, "the reasoner")
    client.say("open the drawer " * 100_000, "long")
    client.say("open the drawer", "q" * 100_000)
    client.say("open the drawer\x1b[2J", "control")
    assert all(mission.state in ("idle", "failed") and not mission.tasks for mission in client.missions)
    assert max(len(mission.text) for mission in client.missions) <= 300
    assert (graph.run_dir / "mission.jsonl").stat().st_size < 10_000


def test_announcements_that_are_not_to_be_trusted_change_nothing(graph: Graph, client: Client) -> None:
    graph.skill()
    graph.monitor()
    graph.reasoner()
    client.until(client.skills.get_subscription_count, "the reasoner")
    honest = {"node": "/openral/policy/x", "action_server": "/openral/skills/x/execute", "active": True}
    for bad in (
        {"name": "a/b", **honest, "description": "d" * 10_000_000},
        {"name": "n" * 10_000_000, **honest},
        {"name": "a/c", **honest, "examples": ["e" * 10_000_000], "tasks": ["t"]},
        {"name": "a/d", **honest, "tasks": ["t"] * 100_000},
        {"name": "a/e", **honest, "action_server": "no name at all"},
        {"name": "a/f\nlog line", **honest},
        {"name": "a/g", **honest, "max_execution_s": float("nan")},
        {"name": "a/h", **honest, "goal_id": "g" * 1_000_000},
    ):
        client.skills.publish(SkillInfo(**bad))
    for number in range(200):
        client.skills.publish(SkillInfo(**{**honest, "name": f"a/many{number}"}))
    client.say("open the drawer", "m")
    client.until(lambda: client.missions[-1].state in ("done", "failed"), "the mission's end")
    assert client.missions[-1].state == "done", client.reasons()
    assert max(len(mission.message) for mission in client.missions) < 1000


@contextlib.contextmanager
def hung(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_skill_that_hangs_is_lost_and_taken_up_again(graph: Graph, client: Client) -> None:
    """It stays in the graph all the time: only its heartbeat tells."""
    policy = graph.skill(max_execution_s=LONG_S)
    graph.monitor(levels=[0.7, 1.0])
    slow = {
        "gate.default_patience_s": LONG_S,
        "gate.stale_after_s": LONG_S,
        "director.bridge_patience_s": LONG_S,
    }
    graph.reasoner("open the drawer", **slow, **{"director.comeback_patience_s": PATIENCE_S})
    graph.wait_for("reading")
    with hung(policy.pid):
        client.until(lambda: "/openral/policy/fake has been silent for 5 s" in client.reasons(), "its loss")
        names = client.node.get_node_names_and_namespaces()
        assert ("fake", "/openral/policy") in names, "it is in the graph, and yet lost"
    client.until(lambda: client.missions[-1].state in ("done", "failed"), "the mission's end")
    assert client.missions[-1].state == "done", client.reasons()
    assert client.missions[-1].tasks[0].attempts == 2


@pytest.mark.slow
def test_a_skill_that_hangs_for_two_seconds_is_not_lost(graph: Graph, client: Client) -> None:
    policy = graph.skill(max_execution_s=LONG_S)
    graph.monitor(levels=[0.7])
    reasoner = graph.reasoner(
        "open the drawer", **{"gate.default_patience_s": LONG_S, "gate.stale_after_s": LONG_S}
    )
    graph.wait_for("reading")
    for process in (policy, reasoner):
        with hung(process.pid):
            time.sleep(2.0)
    readings = len(graph.steps())
    client.until(lambda: len(graph.steps()) > readings + 20, "further readings")
    assert not any("silent" in step["reason"] or "went away" in step["reason"] for step in graph.steps())
    assert graph.mission()["state"] == "active"


@pytest.mark.slow
def test_a_reasoner_that_hung_itself_loses_nobody(graph: Graph, client: Client) -> None:
    graph.skill(max_execution_s=LONG_S)
    graph.monitor(levels=[0.7])
    patience = {
        "gate.default_patience_s": LONG_S,
        "gate.stale_after_s": LONG_S,
        "director.bridge_patience_s": LONG_S,
    }
    reasoner = graph.reasoner("open the drawer", **patience)
    graph.wait_for("reading")
    with hung(reasoner.pid):
        time.sleep(8.0)
    readings = len(graph.steps())
    client.until(lambda: len(graph.steps()) > readings + 20, "further readings")
    assert not any("silent" in step["reason"] for step in graph.steps())


@pytest.mark.long
def test_a_monitor_that_hangs_is_told_and_fails_no_mission(graph: Graph, client: Client) -> None:
    graph.skill(max_execution_s=LONG_S)
    monitor = graph.monitor(levels=[1.0], rise_s=30.0)
    graph.reasoner("open the drawer", **{"gate.default_patience_s": LONG_S})
    graph.wait_for("reading")
    with hung(monitor.pid):
        client.until(lambda: "the reward monitor gave no reading for 6 s" in client.reasons(), "its silence")
    client.until(lambda: "the reward monitor is back" in client.reasons(), "its return")
    client.until(lambda: client.missions[-1].state in ("done", "failed"), "the mission's end")
    assert client.missions[-1].state == "done", client.reasons()
