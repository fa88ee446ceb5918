"""What the reasoner offers to agents outside it: the table of tools, its state, and the server of their calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.lifecycle import LifecycleNode

from openral_core.files.user_path import user_path
from openral_core.instant import Instant
from openral_reasoner.deployment import Deployment
from openral_reasoner.memory.notes_file import Memory
from openral_reasoner.mission.attempt import Command
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.mission import LogEntry
from openral_reasoner.mission.planning_service import PlanningService
from openral_reasoner.mission.record import recorded
from openral_reasoner.palette import Palette
from openral_reasoner.ros.messages import control_of
from openral_reasoner.ros.skill_registry import SkillRegistry
from openral_reasoner.ros.tool_server import ToolServer
from openral_reasoner.tools.outside_calls import OutsideCalls
from openral_reasoner.tools.table import outside_table
from openral_reasoner.tools.tool import Tool


class OutsideAgents:
    """Made when the reasoner is configured; serves calls between `open` and `close`."""

    def __init__(
        self,
        director: Director,
        planning: PlanningService,
        registry: SkillRegistry,
        deployment: Deployment,
        *,
        memory_file: str,
        locates: Callable[[], bool],
        log: Callable[[LogEntry], None],
    ) -> None:
        """Prepare.

        Args:
            director: holds the mission.
            planning: serves its requests.
            registry: the skills.
            deployment: its cameras.
            memory_file: where notes are kept; empty: none are.
            locates: whether something in the graph answers where a thing is.
            log: takes the calls and their answers.
        """
        self._director, self._registry, self._deployment = director, registry, deployment
        self._memory = Memory(user_path(memory_file)) if memory_file else None
        self._locates = locates
        self._control: tuple[float, dict[str, object]] | None = None
        self._server: ToolServer | None = None
        self._made_of: tuple[Palette, bool] | None = None
        self._table: tuple[Tool, ...] = ()
        self._calls = OutsideCalls(director, planning, self._tools, self._state, log)

    def open(
        self, node: LifecycleNode, run: Callable[[list[Command]], None], now: Callable[[], Instant]
    ) -> None:
        """Serve calls in the callbacks of a node.

        Args:
            node: the owner of the action and the topic.
            run: carries commands out.
            now: this moment.
        """
        self._server = ToolServer(node, self._calls, self._tools, run, now)

    def close(self) -> None:
        """Answer what waits, and serve no more."""
        if self._server is not None:
            self._server.close()
        self._server = None

    def tick(self) -> None:
        """Look at the time; call it often."""
        if self._server is not None:
            self._server.tick()

    def heard(self, entry: LogEntry) -> None:
        """A step of the mission log."""
        self._calls.heard(entry)

    def bridge_says(self, status: Any) -> None:
        """The newest `openral/msg/ControlStatus`."""
        self._control = (time.monotonic(), control_of(status))

    def _tools(self) -> tuple[Tool, ...]:
        """Return the same table as before for as long as nothing in it changes."""
        made_of = (self._registry.palette(), self._locates())
        if made_of != self._made_of:
            self._made_of = made_of
            palette, locates = made_of
            cameras = [camera.name for camera in self._deployment.cameras]
            self._table = outside_table(palette, cameras=cameras, memory=self._memory, locates=locates)
        return self._table

    def _state(self) -> dict[str, object]:
        palette, control = self._registry.palette(), self._control
        return {
            "mission": recorded(self._director.mission).model_dump(),
            "skills": [skill.name for skill in palette.skills],
            "not_usable": palette.excluded,
            "control": {"age_s": round(time.monotonic() - control[0], 2), **control[1]} if control else None,
            "estopped": self._director.estopped,
        }
