"""A reasoner without a graph, as a source of tools: director, gates and calls are the real ones, time is the test's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any
from uuid import uuid4

import cv2
from director_desk import SKILL, Desk
from mcp import Client
from mcp.types import CallToolResult

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressReading
from openral_reasoner.llm.fakes import written_image
from openral_reasoner.mcp.server import ToolsServer
from openral_reasoner.mission.agent_gate import SteeringLimits
from openral_reasoner.mission.agent_requests import Look, QueryProgress, Reply, Sensing
from openral_reasoner.mission.planning_service import PlanningService
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.palette import Palette, Skill
from openral_reasoner.tools.offered_tools import CallProgress, OfferedTool
from openral_reasoner.tools.outside_calls import Call, OutsideCalls
from openral_reasoner.tools.table import outside_table

OPEN = "execute_skill__openral__rskill-mini"
MOVE = "execute_skill__openral__rskill-motion-move-to"
MOVE_TO = Skill(
    name="openral/rskill-motion-move-to",
    slug="motion_move_to",
    node="/openral/motions",
    action_server="/openral/skills/motion_move_to/execute",
    kind="ros_action",
    goal_params_schema={
        "type": "object",
        "properties": {
            "position": {
                "type": "array",
                "prefixItems": [{"type": "number", "minimum": -1, "maximum": 1}] * 3,
                "minItems": 3,
                "maxItems": 3,
            },
            "speed": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        },
        "required": ["position"],
        "additionalProperties": False,
    },
)
PALETTE = Palette((SKILL, MOVE_TO))
SESSION = "/openral/agent_1"


class McpDesk:
    """A `ToolSource`."""

    def __init__(
        self,
        *,
        palette: Palette = PALETTE,
        approve_each: bool = False,
        limits: SteeringLimits | None = None,
        progress: Sequence[float] = (0.3, 0.95),
    ) -> None:
        self.on_change: Callable[[], None] = lambda: None
        self.desk = Desk(palette=palette)
        self.approve_each, self.progress = approve_each, progress
        self.on_step: Callable[[], None] = lambda: None
        """Called whenever a call waits and time passes."""
        self.planning = PlanningService(self.desk.director, OfflinePlanner(), perception=self, limits=limits)
        self.calls = OutsideCalls(
            self.desk.director, self.planning, self._table, lambda: {"estopped": False}, self.desk.log.append
        )
        self._heard = 0
        self._arrived: set[int] = set()

    @property
    def now(self) -> Instant:
        return Instant(self.desk.now, self.desk.now)

    def sense(self, request: Sensing, answer: Callable[[Reply], None]) -> None:
        if isinstance(request, Look):
            answer(Reply(True, "a picture", cv2.imencode(".png", written_image("a drawer"))[1].tobytes()))
        elif isinstance(request, QueryProgress):
            answer(Reply(True, "progress 0.97", reading=ProgressReading(0.0, 0.97, 0.97)))
        else:
            answer(Reply(True, '{"position_m": [0.1, 0.6, 0.2]}'))

    def _table(self) -> Any:
        return outside_table(self.desk.palette, cameras=["corner2"], locates=True)

    async def tools(self) -> Sequence[OfferedTool]:
        return [
            OfferedTool(tool.name, tool.description, tool.schema, tool.moves, tool.reads)
            for tool in self._table()
        ]

    async def call(self, who: str, tool: str, arguments: Mapping[str, Any], told: CallProgress) -> Reply:
        answers: list[Reply] = []
        call = Call(SESSION, who, self.approve_each, tool, json.dumps(arguments))
        try:
            self.do(self.calls.call(call, answers.append, self.now))
            while not answers:
                self.step()
                if words := self.calls.progress(SESSION):
                    await told(words[1])
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.do(self.calls.broken_off(call, self.now))
            raise
        return answers[0]

    def do(self, commands: Any) -> None:
        self.desk.do(commands)
        for entry in self.desk.log[self._heard :]:
            self.calls.heard(entry)
        self._heard = len(self.desk.log)

    def step(self) -> None:
        """A third of a second passes."""
        self.on_step()
        goal = self.desk.sent[-1] if self.desk.sent else None
        if goal is not None and goal.skill.judges_itself and goal.key not in self._arrived:
            self._arrived.add(goal.key)
            self.desk.end("SUCCEEDED", "reached")
        self.desk.run(1 / 3, *self.progress[-1:])
        self.do(self.planning.tick(self.now))
        self.do(self.calls.tick(self.now))

    def answer(self, words: str) -> None:
        """The operator answers the open question, once there is one."""

        def look() -> None:
            if self.desk.director.question:
                self.on_step = lambda: None
                self.desk.say(words, uuid4().hex)

        self.on_step = look

    def words(self, kind: str) -> list[str]:
        return [entry.reason for entry in self.desk.log if entry.kind == kind]

    def run(self, scene: Callable[[Client], Coroutine[Any, Any, None]]) -> None:
        """Let a client in memory play a scene."""

        async def play() -> None:
            async with Client(ToolsServer(self).mcp) as client:
                await scene(client)

        asyncio.run(play())


def text(result: CallToolResult) -> str:
    return str(result.content[0].text)  # type: ignore[union-attr]
