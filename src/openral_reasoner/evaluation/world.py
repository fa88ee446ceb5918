"""A simulated deployment in one process, on a simulated clock: skills that succeed, fail or stall, and a monitor.

The director, its gate, the planning service and the steering are the real ones. The skills are fakes: a task succeeds
after as many failing attempts as the mission says. Every second failing attempt reports a success, which the monitor's
readings contradict.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_reasoner.evaluation.motions import carry_out, with_motions
from openral_reasoner.evaluation.suite import WrittenMission
from openral_reasoner.mission.agent_requests import QueryProgress, Reply, Sensing
from openral_reasoner.mission.attempt import (
    AskWorld,
    CancelGoal,
    Command,
    DirectorConfig,
    FindThing,
    RequestPlan,
    SendGoal,
)
from openral_reasoner.mission.condition_query import ConditionQuery
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.mission import LogEntry, Mission, TaskState
from openral_reasoner.mission.planning_service import MakeAgent, PlanningService
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.palette import MOTION, Palette
from openral_reasoner.planner import Plan

TICK_S = 0.1
PATIENCE_WALL_S = 600.0
"""[s] wall time after which a mission is given up, since the model hangs."""
OPPOSITES = (("open", "close"), ("on", "off"), ("pick", "place"))
"""Words of task ids that undo each other."""
RESTING = frozenset({"close", "off"})
"""Words in the ids of tasks that count as done unless the mission says otherwise."""
PLANNER = OfflinePlanner()
"""One planner for all missions, since it caches sentence embeddings."""


class SimulatedDeployment:
    """Runs one written mission. Make one for each."""

    def __init__(
        self, written: WrittenMission, palette: Palette, make_agent: MakeAgent | None = None, who: str = ""
    ) -> None:
        self._written = written
        self._now = 1.0
        self._tries: Counter[str] = Counter()
        known = {task.id for skill in palette.skills for task in skill.tasks}
        rest = {task for task in known if set(task.split("-")) & RESTING}
        self._true = set(written.world) | {task for task in rest if _undone(task) not in written.world}
        self._running: SendGoal | None = None
        self.sent: list[str] = []
        """Tasks of the goals that were sent, one for each attempt."""
        self.log: list[LogEntry] = []
        gate = ProgressThresholds(default_patience_s=1.0, plateau_window_s=1.0)
        self._condition_query = ConditionQuery(self.sense, gate)
        self._director = Director(
            self.log.append,
            gate=gate,
            config=DirectorConfig(palette_settle_s=0.0, palette_patience_s=5.0, ask_patience_s=1.0),
        )
        self._director.palette(with_motions(palette), self._now)
        self._director.perception(can_locate=True)
        self._palette = palette
        self._planning = PlanningService(
            self._director, PLANNER, make_agent=make_agent, who=who, perception=self
        )

    @property
    def mission(self) -> Mission:
        """The mission."""
        return self._director.mission

    @property
    def done(self) -> tuple[str, ...]:
        """Tasks that were done, in order."""
        return tuple(task.planned.skill_task for task in self.mission.tasks if task.state is TaskState.DONE)

    @property
    def fallback(self) -> str:
        """Why the offline planner planned the sentence in place of the model; empty: it did not."""
        said = [entry.reason for entry in self.log if entry.kind == "model"]  # the first one says who plans
        return said[-1] if len(said) > 1 and not self.mission.open_ended else ""

    def run(self) -> None:
        """Say the sentence, and simulate until the mission has ended."""
        self._do(self._director.prompt("eval", self._written.say, Instant(self._now, self._now)))
        end = time.monotonic() + PATIENCE_WALL_S
        while not self.mission.state.ended and time.monotonic() < end:
            self._now += TICK_S
            self._director.bridge_alive(self._now)
            self._work()
            if self._planning.question:
                self._planning.operator_says(self._written.answer)
            if finding := self._condition_query.tick(self._now):
                self._do(self._director.found_out(*finding, Instant(self._now, self._now)))
            self._do(self._planning.tick(Instant(self._now, self._now)))
            self._do(self._director.tick(Instant(self._now, self._now)))
            if self._running is None:
                time.sleep(0.0005)  # a planner or a model works in another thread
        self._planning.close()

    def sense(self, request: Sensing, answer: Callable[[Reply], None]) -> None:
        """Answer as a monitor that is always right; see `openral_reasoner.mission.planning_service.Perception`."""
        if not isinstance(request, QueryProgress):
            answer(Reply(False, "there is no camera"))
            return
        level = 0.97 if self._is_done(request.task) else 0.04
        answer(
            Reply(
                True, f"progress {level:.2f}, success {level:.2f}", reading=ProgressReading(0.0, level, level)
            )
        )

    def _is_done(self, words: str) -> bool:
        """Return whether a task counts as done."""
        plan = PLANNER.plan(words, self._palette)
        asked = [task.skill_task for task in plan.tasks] if isinstance(plan, Plan) else []
        return len(asked) == 1 and asked[0] in self._true

    def _work(self) -> None:
        """Publish a reading of the running goal; every second attempt that fails reports a success."""
        if self._running is None:
            return
        task = self._running.task
        failing = self._tries[task] <= self._written.fails.get(task, 0)
        level = 0.25 if failing else 0.97
        self._director.reading(f"g{self._running.key}", ProgressReading(self._now, level, level), self._now)
        if failing and self._tries[task] % 2 == 0:
            self._end("SUCCEEDED", "policy", "the skill says that it is done")

    def _do(self, commands: Sequence[Command]) -> None:
        for command in commands:
            if isinstance(command, RequestPlan):
                self._planning.propose(command, self._now)
            elif isinstance(command, FindThing) or (
                isinstance(command, SendGoal) and command.skill.kind == MOTION
            ):
                wanted, self._now = carry_out(self._director, command, self._now)
                self._do(wanted)
            elif isinstance(command, SendGoal):
                self._running = command
                self._tries[command.task] += 1
                self.sent.append(command.task)
                self._do(
                    self._director.goal_answered(
                        command.key, f"g{command.key}", True, Instant(self._now, self._now)
                    )
                )
            elif isinstance(command, CancelGoal):
                self._end("CANCELED", "client_cancel", "")
            elif isinstance(command, AskWorld):
                self._condition_query.ask(command, self._now)

    def _end(self, outcome: str, check: str, words: str) -> None:
        goal, self._running = self._running, None
        if goal is None:
            return
        if self._tries[goal.task] > self._written.fails.get(goal.task, 0):
            self._true.add(goal.task)
            self._true -= {_undone(goal.task)}
        self._director.goal_ended(goal.key, GoalReport(outcome, check, words), Instant(self._now, self._now))


def _undone(task: str) -> str:
    """Return the id of the task that this one undoes: drawer-open undoes drawer-close; empty: none."""
    parts = task.split("-")
    for one, other in (*OPPOSITES, *(pair[::-1] for pair in OPPOSITES)):
        if one in parts:
            return "-".join(other if part == one else part for part in parts)
    return ""
