"""Every field of everything that a deployment's nodes take in, at the ends of what it can hold, idle and at work.

Which topics, services and actions those are, the graph says; which fields they have, their definitions. Nobody dies
or hangs, nothing moves, nothing is kept.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psutil
import pytest
from faults_cases import FEW, MANY, Case, cases
from faults_deployment import NODES, Deployed, deployed
from faults_files import REWARD, WORDS, World
from faults_graph import ANSWER_S, Outsider, Service, Topic, base, refused
from openral.action import ExecuteSkill
from system_stack import wait_for

REJECTED = 5
STILL = "still"
ACTION = f"/openral/skills/{STILL}/execute"
MOVED_M = 1e-3
MAX_GROWTH, MAX_MORE = 500e6, 200e6
"""[bytes] by which a process may grow while it is sent everything, and by which once more when it is sent it again."""
MAX_LOG = 2_000_000
"""[bytes] of all that the deployment prints."""


class Fuzz:
    """Sends all cases into a deployment and looks at it after each."""

    def __init__(self, deployed: Deployed, outsider: Outsider, many: int) -> None:
        self._deployed, self._outsider, self._many = deployed, outsider, many
        self._nodes = outsider.nodes()
        assert len(self._nodes) == len(NODES), self._nodes
        self._processes = {name: deployed.stack.node(name) for name in NODES}
        self._rss = {name: process.memory_info().rss for name, process in self._processes.items()}
        self.count = 0
        self.slowest_s = 0.0
        self.faults: list[str] = []
        """What went wrong without ending anything."""
        self._read = 0
        """[bytes] of the output that were looked at."""

    def growth(self) -> dict[str, float]:
        """[bytes] by which each process has grown."""
        return {name: p.memory_info().rss - self._rss[name] for name, p in self._processes.items()}

    def topics(self, before: Callable[[], None]) -> None:
        """Send each case of each topic; `before` is called before each topic."""
        for topic in self._outsider.topics():
            before()
            self._batch(topic.name, lambda topic=topic: self._topic(topic))

    def _topic(self, topic: Topic) -> None:
        publisher = self._outsider.publisher(topic)
        good = base(topic.kind)
        for case in cases(good, self._many):
            publisher.publish(case.put(good))
            self._counted(f"{topic.name}: {case}", lambda: all(map(self._outsider.answers, topic.nodes)))
        self._outsider.node.destroy_publisher(publisher)

    def services(self, before: Callable[[], None], everywhere: bool) -> None:
        """Call each service with each case, and put the world back.

        Args:
            before: called before each service.
            everywhere: services that rclpy gives to every node are called at every node, not at one of them.
        """
        for service in self._outsider.services():
            if not everywhere and service.is_of_rclpy and not self._is_turn_of(service.node, service.kind):
                continue
            before()
            good = base(service.kind.Request)
            for case in cases(good, self._many):
                answer = self._counted(f"{service.name}: {case}", partial(self._ask, service, case.put(good)))
                if case.senseless and refused(answer) is False:
                    self.faults.append(f"{service.name} took {case}: {str(answer)[:200]}")
            self._look(service.name)
        self._outsider.reset()

    def _ask(self, service: Service, request: Any) -> Any:
        return self._outsider.call(service.kind, service.name, request, ANSWER_S)[0]

    def _is_turn_of(self, node: str, kind: Any) -> bool:
        """Whether a node is the one of whose services of this kind we call."""
        return self._nodes[len(kind.__name__) % len(self._nodes)] == node

    def goals(self) -> None:
        """Send each case of a goal."""
        good = ExecuteSkill.Goal(instruction="open the drawer", deadline_s=5.0)
        self._batch(ACTION, lambda: [self._goal(good, case) for case in cases(good, self._many)])

    def _goal(self, good: Any, case: Case) -> None:
        outcome = self._counted(f"{ACTION}: {case}", lambda: self._outsider.goal(ACTION, case.put(good)))
        if case.senseless and outcome not in (None, REJECTED):
            self.faults.append(f"{ACTION} ran {case}: outcome {outcome}")

    def _counted(self, what: str, send: Callable[[], Any]) -> Any:
        """Send one case and return what came back."""
        self.count += 1
        begun = time.monotonic()
        try:
            result = send()
        except AssertionError as error:
            raise AssertionError(f"after {what}: {error}; {self._deployed.stack.output[-4000:]}") from error
        self.slowest_s = max(self.slowest_s, time.monotonic() - begun)
        return result

    def _batch(self, what: str, send: Callable[[], Any]) -> None:
        """Send some cases, during which the hand must stay where it is."""
        self._outsider.positions.clear()
        send()
        moved = self._outsider.moved_m()
        if moved > MOVED_M:
            self.faults.append(f"{what}: the hand moved by {1e3 * moved:.1f} mm")
        self._look(what)

    def _look(self, what: str) -> None:
        """See that all processes live, how large they are, and what they have said since the last look."""
        stack = self._deployed.stack
        assert stack.running, f"{what} ended the deployment:\n{stack.output[-4000:]}"
        for name, process in self._processes.items():
            assert process.is_running(), f"{what} ended {name}"
            assert process.status() != psutil.STATUS_ZOMBIE, f"{what} ended {name}"
        with (stack.folder / "output.txt").open("rb") as output:
            output.seek(self._read)
            new = output.read().decode(errors="replace")
            self._read = output.tell()
        self.faults += [f"{what}: {trace}" for trace in dict.fromkeys(_tracebacks(new))]


def _tracebacks(output: str) -> list[str]:
    """Return the last line of each traceback, and the innermost two before it."""
    found = []
    lines = [re.sub(r"^\[[\w-]+\] ?", "", line) for line in output.splitlines()]
    for index, line in enumerate(lines):
        if line.startswith("Traceback"):
            end = next(
                (i for i in range(index + 1, len(lines)) if not lines[i].startswith(" ")), len(lines) - 1
            )
            found.append(" | ".join(text.strip() for text in lines[max(index, end - 4) : end + 1])[:600])
    return found


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deployed, Outsider]]:
    """A deployment with one skill, whose actions leave the hand where it is, and a monitor that never sees an end."""
    world = World(tmp_path_factory.mktemp("still"))
    budget = {"per_chunk_ms": 50.0, "max_execution_s": 3600.0}
    skill = world.skill(STILL, "fake", {"action": [0.0, 0.0, 0.0, -1.0]}, latency_budget=budget, **WORDS)
    patient = {**REWARD["reward"], "plateau_window_s": 3600.0}
    reward = world._write("dim", {**REWARD, "model_family": "fake", "policy_extras": {}, "reward": patient})
    world.scene = world.write_scene("still.yaml", skills=[skill], reward_skill=reward)
    with deployed(world) as running, Outsider(running.stack) as outsider:
        running.operator.until_active(STILL)
        wait_for(lambda: len(outsider.nodes()) == len(NODES), "all nodes")
        wait_for(lambda: all(map(outsider.answers, outsider.nodes())), "all nodes")
        outsider.until_status()
        yield running, outsider


def set_to_work(running: Deployed, outsider: Outsider) -> None:
    """See that a mission is under way and the bridge executes its chunks, whatever was said of the E-stop before."""

    def works() -> bool:
        return bool(outsider.true.active_goal) and not outsider.true.holding

    outsider.until_status()
    for _ in range(20):
        if works():
            return
        outsider.press("/openral/estop_reset")
        running.operator.say("open the drawer")
        with contextlib.suppress(AssertionError):
            wait_for(works, "a mission that runs", 2.0)
    last = running.operator.missions[-1]
    raise AssertionError(f"no mission could be begun: {last.message}; {running.stack.output[-4000:]}")


def fuzz(running: Deployed, outsider: Outsider, figure: Any, *, everywhere: bool) -> None:
    """Send everything, first while nothing is to be done and then at work, and see what became of the deployment.

    Args:
        everywhere: all services of all nodes are called, also at work, and with longer arrays of messages.
    """
    sent = Fuzz(running, outsider, MANY if everywhere else FEW)
    executed = outsider.until_status().executed
    sent.topics(lambda: None)
    assert outsider.until_status().executed == executed, "steps were executed without a goal"
    sent.goals()
    sent.services(lambda: None, everywhere)
    idle, grown = sent.count, sent.growth()
    work = partial(set_to_work, running, outsider)
    work()
    sent.topics(work)
    if everywhere:
        sent.services(work, everywhere)
    work()
    total = sent.growth()
    more = {name: total[name] - grown[name] for name in total}
    log = (running.stack.folder / "output.txt").stat().st_size
    print(
        f"{idle} cases idle, {sent.count - idle} at work; grown [MB]: "
        f"{', '.join(f'{name} {1e-6 * size:.0f}' for name, size in total.items())}; "
        f"slowest {sent.slowest_s:.1f} s; log {1e-3 * log:.0f} kB"
    )
    assert not sent.faults, "\n".join(sent.faults)
    assert max(total.values()) < MAX_GROWTH, f"grown by {total}"
    assert max(more.values()) < MAX_MORE, f"grown by {more} when it was all sent again"
    assert log < MAX_LOG, f"the log has {log} bytes"
    figure(
        row=10,
        injected="every field of every topic, service and goal at its extremes, idle, and at work "
        + ("again" if everywhere else "those of topics"),
        times=sent.count,
        happened="all nodes answered, nothing moved, what is senseless was refused",
        worst=1e-6 * max(total.values()),
        unit="MB grown",
        bar="500 MB",
    )


def test_bad_messages_end_nothing_and_move_nothing(still: tuple[Deployed, Outsider], figure: Any) -> None:
    fuzz(*still, figure, everywhere=False)


@pytest.mark.long
def test_bad_messages_at_every_service_of_every_node(still: tuple[Deployed, Outsider], figure: Any) -> None:
    fuzz(*still, figure, everywhere=True)
