"""Calls of agents outside the reasoner, such as clients of `openral mcp`: the same tools under the same gate.

A session is one such agent. Its first call that belongs to a mission begins one, if no other is in work; its requests
then go through `Steering`, like those of a language model inside. The operator and the E-stop end its mission as any
other; in the next mission of that session the operator must permit the first motion. Each call and its answer are steps
of the mission log. The mission of a session that goes away or cancels a call is stopped, and the arm holds.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from uuid import uuid4

from openral_core.cli.printable import plain_line
from openral_core.instant import Instant
from openral_reasoner.mission.agent_gate import Answer, Approval
from openral_reasoner.mission.agent_requests import (
    Execute,
    Finish,
    MissionOver,
    ReadLog,
    ReadState,
    Reply,
    Request,
    RequestQueue,
    Steered,
    Stop,
)
from openral_reasoner.mission.attempt import Command
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.mission import LogEntry, Mission, MissionState
from openral_reasoner.mission.planning_service import PlanningService
from openral_reasoner.tools.table import MAX_LOG
from openral_reasoner.tools.tool import Tool, parse_arguments

MAX_SESSIONS = 32
"""Sessions that are remembered; then the oldest one without a mission is forgotten."""
IDLE_S = 600.0
"""[s] wall time without a call after which a session's mission is stopped."""
MAX_CALLS = 400
"""Calls of one mission that belong to it."""
MAX_ANSWER = 1000
"""Characters of an answer that the mission log repeats."""


@dataclass(frozen=True)
class Call:
    """One call of a tool."""

    session: str
    """Fully qualified name of the agent's node."""
    who: str
    """What the agent calls itself; for the log and for questions to the operator."""
    approve_each: bool
    """Whether each of its motions needs the operator's permission."""
    tool: str
    arguments: str
    """JSON object."""


@dataclass
class _Session:
    who: str
    mission: Mission | None = None
    """In work; None: none."""
    requests: RequestQueue = field(default_factory=RequestQueue)
    open_calls: int = 0
    """Of the mission, not answered yet."""
    calls: int = 0
    """Of the mission."""
    last_wall_s: float = 0.0
    interrupted: bool = False
    """Somebody else stopped its last mission."""


class OutsideCalls:
    """Serves the calls of all sessions. Not thread-safe: call it where the director is called."""

    def __init__(
        self,
        director: Director,
        planning: PlanningService,
        table: Callable[[], tuple[Tool, ...]],
        state: Callable[[], dict[str, object]],
        log: Callable[[LogEntry], None],
    ) -> None:
        """Begin without sessions.

        Args:
            director: holds the mission.
            planning: carries out its requests.
            table: returns the tools that are offered now.
            state: returns what the tool `state` tells, as plain values.
            log: called with a step of the mission log for each call and each answer.
        """
        self._director, self._planning = director, planning
        self._table, self._state, self._log = table, state, log
        self._sessions: dict[str, _Session] = {}
        self._steps: deque[LogEntry] = deque(maxlen=MAX_LOG)
        self._now_s = 0.0

    def heard(self, entry: LogEntry) -> None:
        """Keep a step of the mission log for the tool `mission_log`."""
        if entry.kind not in ("reading", "call", "reply"):
            self._steps.append(entry)

    def call(self, call: Call, answer: Answer, now: Instant) -> list[Command]:
        """Serve one call; `answer` is called exactly once, now or later."""
        self._now_s = now.stamp_s
        session = self._session(call, now)
        asked = self._request(call)
        if isinstance(asked, Steered) and (refusal := self._open(session, call, asked, now)):
            asked = Reply(False, f"refused: {refusal}")
        entry = f"{session.who}: {plain_line(call.tool, 80)} {plain_line(call.arguments)}"
        mission = self._note(session.mission, "call", entry)

        def answered(reply: Reply) -> None:
            self._note(mission, "reply", plain_line(reply.text, MAX_ANSWER))
            answer(reply)

        return self._serve(session, asked, answered, now)

    def broken_off(self, call: Call, now: Instant) -> list[Command]:
        """Stop the mission of a session that cancelled an unanswered call, unless the call only read something."""
        tool = next((tool for tool in self._table() if tool.name == call.tool), None)
        return [] if tool is not None and tool.reads else self._leave(call.session, "broke off its call", now)

    def gone(self, session: str, now: Instant) -> list[Command]:
        """Stop the mission of a session whose node left the graph, and forget the session."""
        commands = self._leave(session, "went away", now)
        self._sessions.pop(session, None)
        return commands

    def tick(self, now: Instant) -> list[Command]:
        """Stop missions of idle sessions, and notice how missions ended; called often."""
        self._now_s = now.stamp_s
        commands: list[Command] = []
        for name, session in list(self._sessions.items()):
            self._look(session)
            if session.mission and not session.open_calls and now.wall_s - session.last_wall_s > IDLE_S:
                commands += self._leave(name, f"asked for nothing for {IDLE_S:.0f} s", now)
        return commands

    def progress(self, session: str) -> tuple[float, str] | None:
        """Return the progress, 0..1 or -1, and the message of the session's mission; None: it has no active one."""
        held = self._sessions.get(session)
        if held is None or held.mission is None or held.mission.state is not MissionState.ACTIVE:
            return None
        if self._director.question:
            return -1.0, plain_line(f"waiting for the operator's answer: {self._director.question}")
        task = held.mission.current
        return task.progress if task else -1.0, plain_line(held.mission.message)

    # -- one call ----------------------------------------------------------------------------------

    def _request(self, call: Call) -> Request | Reply:
        tools = {tool.name: tool for tool in self._table()}
        tool = tools.get(call.tool)
        if tool is None:
            name = plain_line(call.tool, 80)
            return Reply(False, f"refused: there is no tool '{name}'; there is {', '.join(tools)}")
        arguments = parse_arguments(call.arguments)
        refusal = arguments if isinstance(arguments, str) else tool.refusal(arguments)
        if refusal and tool.stops:
            return Stop(wrong=plain_line(refusal.removeprefix("refused: ")))
        if isinstance(arguments, str):
            return Reply(False, arguments)
        return Reply(False, plain_line(refusal)) if refusal else tool.ask(arguments)

    def _serve(
        self, session: _Session, asked: Request | Reply, answer: Answer, now: Instant
    ) -> list[Command]:
        if isinstance(asked, Stop):
            self._forget(session)
            reason = f"stopped by {session.who}{f': {plain_line(asked.why)}' if asked.why else ''}"
            commands = self._director.halt(reason, reason, self._director.mission.id, now)
            wrong = f"; it was stopped though the arguments are wrong: {asked.wrong}" if asked.wrong else ""
            answer(Reply(True, f"every motion was told to stop; `state` says what the bridge does{wrong}"))
            return commands
        if isinstance(asked, ReadState):
            asked = Reply(True, json.dumps(self._state()))
        elif isinstance(asked, ReadLog):
            asked = Reply(True, self._told(asked.steps))
        if isinstance(asked, Reply):
            answer(asked)
        elif session.mission is None:
            self._planning.sense(asked, answer)  # type: ignore[arg-type]  # a Steered has opened a mission
        else:
            self._put(session, asked, answer)
            return self._planning.tick(now)
        return []

    def _open(self, session: _Session, call: Call, request: Steered, now: Instant) -> str:
        """Begin a mission for the session if it has none; return why its request is refused, empty: it is not."""
        if session.mission is None:
            if isinstance(request, Finish):
                return "you have no mission; it begins with the first skill, question or word"
            text = f"mission of {session.who}, an agent outside the reasoner"
            if refusal := self._director.steered_from_outside(uuid4().hex, text, now):
                return refusal
            session.mission, session.requests, session.calls = self._director.mission, RequestQueue(), 0
            again = Approval.NEXT if session.interrupted else Approval.NONE
            approval = Approval.EACH if call.approve_each else again
            self._planning.steered_from_outside(session.requests, session.who, approval)
            session.interrupted = False
        session.calls += 1
        if session.calls > MAX_CALLS and isinstance(request, Execute):
            return f"a mission has at most {MAX_CALLS} calls; end it by finish_mission"
        return ""

    def _put(self, session: _Session, request: Request, answer: Answer) -> None:
        session.open_calls += 1

        def answered(future: Future[Reply]) -> None:
            session.open_calls -= 1
            error = future.exception()
            if isinstance(error, MissionOver):
                answer(Reply(False, f"the mission has ended: {error}"))
            else:
                answer(future.result())

        session.requests.put(request).add_done_callback(answered)

    # -- sessions ----------------------------------------------------------------------------------

    def _session(self, call: Call, now: Instant) -> _Session:
        session = self._sessions.get(call.session)
        if session is None:
            if len(self._sessions) >= MAX_SESSIONS:
                idle = (name for name, each in self._sessions.items() if each.mission is None)
                self._sessions.pop(next(idle, next(iter(self._sessions))))
            session = self._sessions[call.session] = _Session(plain_line(call.who, 80) or "an agent")
        session.last_wall_s = now.wall_s
        self._look(session)
        return session

    def _look(self, session: _Session) -> None:
        """Notice whether the session's mission has ended, and whether somebody else stopped it."""
        mission = session.mission
        if mission is None or (mission is self._director.mission and mission.state is MissionState.ACTIVE):
            return
        self._forget(session)
        session.interrupted = mission.state is MissionState.STOPPED

    def _forget(self, session: _Session) -> None:
        session.mission, session.calls = None, 0

    def _leave(self, name: str, how: str, now: Instant) -> list[Command]:
        session = self._sessions.get(name)
        if session is None or session.mission is None:
            return []
        self._look(session)
        if session.mission is None:
            return []
        self._forget(session)
        return self._director.stop(f"stopped: {session.who} {how}", now)

    # -- the log -----------------------------------------------------------------------------------

    def _note(self, mission: Mission | None, kind: str, words: str) -> Mission | None:
        """Log a step about a call, in a mission or without one; return the mission."""
        entry = LogEntry(self._now_s, kind, words, mission.id if mission else "")
        self._log(replace(entry, task=mission.active_task) if mission else entry)
        return mission

    def _told(self, steps: int) -> str:
        chosen = list(self._steps)[-steps:]
        lines = (f"{entry.stamp_s:.1f} s {entry.kind}: {plain_line(entry.reason)}" for entry in chosen)
        return "\n".join(lines) or "nothing has happened yet"
