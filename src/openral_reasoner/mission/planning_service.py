"""Who plans a mission: the language model where one is configured, else, and when it fails, the offline planner.

An order that comes while a mission is in work is first given to the offline planner, which answers at once: what it
understands takes the mission's place. With the rest the language model is asked, where there is one, whose first
task takes the mission's place; what neither understands is refused, and the mission goes on.

Neither ever runs in the node's own thread. `tick` looks in on them, ten times a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from openral_core.instant import Instant
from openral_reasoner.mission.agent_gate import Approval, Steering, SteeringLimits
from openral_reasoner.mission.agent_requests import Reply, Request, RequestQueue, Sensing
from openral_reasoner.mission.attempt import Command, Propose
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.mission import Mission, MissionState
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Plan, Planner, Proposal


class Agent(Protocol):
    """A conversation that steers one mission (`openral_reasoner.llm.agent.MissionAgent`)."""

    ended: Future[str]
    unreached: bool
    """Once it has ended: what answers for the model was not there or refused, so that the model never spoke."""

    def start(self, order: str, palette: Palette, history: Sequence[str] = ()) -> None:
        """Begin; returns at once. `history`: what became of tasks before a restart."""
        ...

    def cancel(self) -> None:
        """Break off."""
        ...


class Perception(Protocol):
    """What an agent may see of the world; answers come when they come."""

    def sense(self, request: Sensing, answer: Callable[[Reply], None]) -> None:
        """Look through a camera, ask the reward monitor, or ask where a thing is."""
        ...


MakeAgent = Callable[[RequestQueue], Agent]


@dataclass
class _Steered:
    """A mission in the hands of an agent."""

    mission: Mission
    requests: RequestQueue
    steering: Steering
    agent: Agent | None
    """None: it is outside the reasoner, and nothing of it runs here."""
    command: Propose | None = None
    offline: Proposal | None = None
    """What the offline planner made of an order that waits."""


class PlanningService:
    """Turns `Propose` into a plan or a steered mission. Not thread-safe: call it where the director is called."""

    def __init__(
        self,
        director: Director,
        planner: Planner,
        *,
        make_agent: MakeAgent | None = None,
        who: str = "",
        perception: Perception | None = None,
        limits: SteeringLimits | None = None,
    ) -> None:
        """Begin with nobody at work.

        Args:
            director: holds the mission.
            planner: the one without a model.
            make_agent: makes the agent of one mission; None: no model is configured.
            who: the model's name, for the mission log.
            perception: what the agent may see.
            limits: how much the agent may do.
        """
        self._director, self._planner = director, planner
        self._make_agent, self._who, self._perception = make_agent, who, perception
        self._limits = limits
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="planner")
        self._thoughts: list[tuple[Propose, Future[Proposal]]] = []
        self._steered: _Steered | None = None
        self._beside: _Steered | None = None
        """An order that waits while a mission is in work, in the hands of an agent of its own."""

    @property
    def question(self) -> str:
        """What the operator is asked; empty: nothing."""
        return self._director.question

    def propose(self, command: Propose, now_s: float) -> None:
        """Let somebody think about a sentence."""
        if command.part or command.beside:
            self._ask_planner(command)
            return
        self.drop("another order came")
        self._steered = self._begin(command, now_s)
        if self._steered is None:
            self._ask_planner(command)

    def _begin(self, command: Propose, now_s: float, offline: Proposal | None = None) -> _Steered | None:
        """Let the language model take a sentence; None: there is none, or the sentence counts no more."""
        make = self._make_agent
        mission = self._director.steered(command.ticket, self._who, now_s) if make else None
        if make is None or mission is None:
            return None
        requests = RequestQueue()
        agent, steering = make(requests), Steering(self._director, mission, self._limits)
        agent.start(command.sentence, command.palette, command.history)
        return _Steered(mission, requests, steering, agent, command, offline)

    def steered_from_outside(self, requests: RequestQueue, who: str, approval: Approval) -> None:
        """An agent outside the reasoner steers the director's mission, by the requests that come here.

        Args:
            requests: closed when the mission ends.
            who: the agent, for questions to the operator.
            approval: which of its motions the operator is asked about.
        """
        self.drop("another agent came")
        mission = self._director.mission
        steering = Steering(self._director, mission, self._limits, who=who, approval=approval)
        self._steered = _Steered(mission, requests, steering, None)

    def operator_says(self, text: str) -> bool:
        """Take words as the answer to the open question; False: there is none."""
        return self._director.operator_says(text)

    def tick(self, now: Instant) -> list[Command]:
        """Take in what came from the other threads."""
        commands = self._serve_agents(now)
        done = [thought for thought in self._thoughts if thought[1].done()]
        self._thoughts = [thought for thought in self._thoughts if thought not in done]
        for command, thought in done:
            commands += self._planned(command, thought.result(), now)
        return commands

    def _planned(self, command: Propose, result: Proposal, now: Instant) -> list[Command]:
        if self._make_agent is None or not self._director.waits(command.ticket):
            return self._director.planned(command.ticket, result, now)
        if isinstance(result, Plan):
            return self._director.understood(now)  # and the language model plans it, as any mission
        _end(self._beside, "another order came")
        self._beside = self._begin(command, now.stamp_s, result)
        return []

    def drop(self, reason: str) -> None:
        """Break off the agent at work, if there is one."""
        steered, self._steered = self._steered, None
        _end(steered, reason)

    def close(self) -> None:
        """Let go of all threads."""
        self.drop("the reasoner ends")
        _end(self._beside, "the reasoner ends")
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask_planner(self, command: Propose) -> None:
        thought = self._pool.submit(self._planner.plan, command.sentence, command.palette)
        self._thoughts.append((command, thought))

    def _serve_agents(self, now: Instant) -> list[Command]:
        """Look in on the agent of the mission in work, and on that of the order that waits."""
        beside = self._beside
        commands: list[Command] = []
        if beside is not None:
            commands += self._take_requests(beside, now)
            if beside.mission is not self._director.waiting:
                self._beside = None
                if beside.mission is self._director.mission and beside.mission.state is MissionState.ACTIVE:
                    self.drop("another order came")
                    self._steered = beside
                else:
                    _end(beside, beside.mission.message)
            elif (reason := self._ended(beside)) is not None:
                self._beside = None
                commands += self._without_agent(beside, reason, now)
        steered = self._steered
        if steered is None:
            return commands
        commands += self._take_requests(steered, now)
        if self._director.mission is not steered.mission or steered.mission.state is not MissionState.ACTIVE:
            self.drop(steered.mission.message)
            return commands
        steered.steering.tick(now)
        if (reason := self._ended(steered)) is not None:
            self._steered = None
            commands += self._without_agent(steered, reason, now)
        return commands

    def _take_requests(self, steered: _Steered, now: Instant) -> list[Command]:
        commands: list[Command] = []
        for request, reply in steered.requests.take():
            commands += self._serve(steered.steering, request, _answer(reply), now)
        return commands

    @staticmethod
    def _ended(steered: _Steered) -> str | None:
        """Why an agent ended without ending its mission; None: it is at work, or outside the reasoner."""
        if steered.agent is None or not steered.agent.ended.done():
            return None
        steered.requests.close("the language model has ended")
        return steered.agent.ended.result() or "it ended without ending the mission"

    def _without_agent(self, steered: _Steered, reason: str, now: Instant) -> list[Command]:
        """Let the offline planner take a sentence whose agent broke down, as far as that is possible."""
        command = steered.command
        if command is None or not self._director.agent_failed(command.ticket, reason, now.stamp_s):
            return []
        if steered.offline is not None and self._director.waits(command.ticket):
            return self._director.planned(command.ticket, steered.offline, now)
        self._ask_planner(command)
        return []

    def _serve(
        self,
        steering: Steering,
        request: Request,
        answer: Callable[[Reply], None],
        now: Instant,
    ) -> list[Command]:
        if not isinstance(request, Sensing):
            return steering.handle(request, answer, now)

        def observed(reply: Reply) -> None:
            steering.observed(reply)
            answer(reply)

        self.sense(request, observed)
        return []

    def sense(self, request: Sensing, answer: Callable[[Reply], None]) -> None:
        """Look at the world, for whoever asks."""
        if self._perception is None:
            answer(Reply(False, "there is nothing to see with"))
        else:
            self._perception.sense(request, answer)


def _answer(reply: Future[Reply]) -> Callable[[Reply], None]:
    """A reply that comes after the mission's end finds nobody."""

    def answer(value: Reply) -> None:
        if not reply.done():
            reply.set_result(value)

    return answer


def _end(steered: _Steered | None, reason: str) -> None:
    """Break an agent off."""
    if steered:
        steered.requests.close(reason)
        if steered.agent:
            steered.agent.cancel()
