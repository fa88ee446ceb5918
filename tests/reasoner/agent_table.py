"""A mission in the hands of a real model client, a fake endpoint behind real HTTP, and a world that does as told."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_reasoner.llm.agent import MissionAgent
from openral_reasoner.llm.fakes import Brain, Endpoint, written_image
from openral_reasoner.llm.models import build_model
from openral_reasoner.llm.settings import ModelSettings
from openral_reasoner.memory.notes_file import Memory
from openral_reasoner.mission.agent_gate import SteeringLimits
from openral_reasoner.mission.agent_requests import Look, QueryProgress, Reply
from openral_reasoner.mission.attempt import CancelGoal, Command, DirectorConfig, RequestPlan, SendGoal
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.mission import LogEntry
from openral_reasoner.mission.planning_service import PlanningService
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.palette import Palette, Skill, SkillTask

PATIENCE_S = 90.0
TOOL = "execute_skill__openral__rskill-mini"
CONFIG = DirectorConfig(palette_settle_s=0.0, palette_patience_s=5.0, answer_patience_s=2.0)
GATE = ProgressThresholds(default_patience_s=1.0, plateau_window_s=1.0)


def skill(**changes: object) -> Skill:
    values: dict[str, object] = {
        "name": "openral/rskill-mini",
        "slug": "mini",
        "node": "/openral/policy/mini",
        "action_server": "/openral/skills/mini/execute",
        "description": "opens and closes a drawer",
        "tasks": (
            SkillTask("drawer-open-v3", ("open the drawer",)),
            SkillTask("drawer-close-v3", ("close the drawer",)),
        ),
        "max_execution_s": 3.0,
    }
    return Skill(**{**values, **changes})  # type: ignore[arg-type]


@dataclass
class Table:
    """Director, planning and a skill server in one; simulation time runs as fast as the model answers."""

    brain: Brain
    palette: Palette = field(default_factory=lambda: Palette((skill(),)))
    works: Callable[[SendGoal], bool] = lambda goal: True
    """Whether an attempt succeeds in the eyes of the reward monitor."""
    end_words: str = ""
    """What the skill server says at the end of a goal that failed."""
    monitor_words: str = ""
    """What the reward monitor says when it is asked."""
    picture: str = ""
    """Text in front of the camera."""
    memory: Path | None = None
    limits: SteeringLimits | None = None
    sees: bool = True
    base_url: str = ""
    log: list[LogEntry] = field(default_factory=list)
    sent: list[SendGoal] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.now = 1.0
        self.director = Director(self.log.append, gate=GATE, config=CONFIG)
        self.director.palette(self.palette, self.now)
        self.endpoint = Endpoint(self.brain)

    def sense(self, request: Look | QueryProgress, answer: Callable[[Reply], None]) -> None:
        if isinstance(request, QueryProgress):
            answer(Reply(True, f"progress 0.10, success 0.05; {self.monitor_words}"))
            return
        png = cv2.imencode(".png", written_image(self.picture)[:, :, ::-1])[1].tobytes()
        answer(Reply(True, f"camera {request.camera}", png))

    def say(self, text: str, *, until: Callable[[], bool] | None = None) -> None:
        """Give an order and let the mission run to its end, or `until`."""
        with self.endpoint:
            settings = ModelSettings(
                model="openai:fake", base_url=self.base_url or self.endpoint.url, sees_images=self.sees
            )
            memory = Memory(self.memory) if self.memory else None
            self.planning = PlanningService(
                self.director,
                OfflinePlanner(),
                make_agent=lambda desk: MissionAgent(
                    lambda: build_model(settings, {}), settings, desk, memory=memory, cameras=["corner2"]
                ),
                who="fake",
                perception=self,
                limits=self.limits,
            )
            try:
                self.order(text, f"p{len(self.log)}")
                self._run(until or (lambda: self.director.mission.state.ended))
            finally:
                self.planning.close()

    def order(self, text: str, prompt_id: str) -> None:
        """Say words to the director; call it within `say`."""
        self._do(self.director.prompt(prompt_id, text, Instant(self.now, self.now)))

    def words(self, kind: str) -> list[str]:
        return [entry.reason for entry in self.log if entry.kind == kind]

    def _run(self, until: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not until():
            assert time.monotonic() < end, [entry.reason for entry in self.log]
            self.now += 0.1
            self.director.bridge_alive(self.now)
            self._read()
            self._do(self.planning.tick(Instant(self.now, self.now)))
            self._do(self.director.tick(Instant(self.now, self.now)))
            time.sleep(0.002)

    def _read(self) -> None:
        """The reward monitor's reading of the running goal, ten a second of simulation time."""
        if self.sent:
            level = 0.95 if self.works(self.sent[-1]) else 0.2
            self.director.reading(f"g{self.sent[-1].key}", ProgressReading(self.now, level, level), self.now)

    def _do(self, commands: Sequence[Command]) -> None:
        for command in commands:
            if isinstance(command, RequestPlan):
                self.planning.propose(command, self.now)
            elif isinstance(command, SendGoal):
                self.sent.append(command)
                self._do(
                    self.director.goal_answered(
                        command.key, f"g{command.key}", True, Instant(self.now, self.now)
                    )
                )
                if self.end_words:
                    self.director.goal_ended(
                        command.key,
                        GoalReport("FAILED", "policy", self.end_words),
                        Instant(self.now, self.now),
                    )
            elif isinstance(command, CancelGoal):
                self.director.goal_ended(
                    command.key,
                    GoalReport("CANCELED", "client_cancel", self.end_words),
                    Instant(self.now, self.now),
                )
