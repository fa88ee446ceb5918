"""Plans missions: by the language model where one is configured; else, and when it fails, by the offline planner.

An order that comes while a mission is in work goes to the offline planner first. If that understands it, the order
replaces the mission. Otherwise the language model is asked, where there is one, and the order replaces the mission with
the model's first task. What neither understands is refused, and the mission goes on.

Both run in threads of their own. `tick`, called about ten times a second in the node's thread, takes in their answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from openral_core.instant import Instant
from openral_reasoner.mission.agent_gate import Approval, Steering, SteeringLimits
from openral_reasoner.mission.agent_requests import Reply, Request, RequestQueue, Sensing
from openral_reasoner.mission.attempt import Command, RequestPlan
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.mission import Mission, MissionState
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Plan, Planner, Proposal


class Agent(Protocol):
    """A conversation that steers one mission, such as `openral_reasoner.llm.agent.MissionAgent`."""

    ended: Future[str]
    """Done when the conversation has ended: empty, or why it failed."""
    unreached: bool
    """Whether it failed because the endpoint was not there or refused, so that the model never answered."""

    def start(self, order: str, palette: Palette, history: Sequence[str] = ()) -> None:
        """Begin; returns at once. `history`: what became of tasks before a restart."""
        ...

    def cancel(self) -> None:
        """End the conversation."""
        ...


class Perception(Protocol):
    """What an agent may observe of the world."""

    def sense(self, request: Sensing, answer: Callable[[Reply], None]) -> None:
        """Look through a camera, query the reward monitor, or locate a thing; `answer` is called once, now or later."""
        ...


MakeAgent = Callable[[RequestQueue], Agent]


@dataclass
class _Steered:
    """A mission that an agent steers."""

    mission: Mission
    requests: RequestQueue
    steering: Steering
    agent: Agent | None
    """None: it is outside the reasoner."""
    command: RequestPlan | None = None
    offline: Proposal | None = None
    """The offline planner's answer about an order that waits."""


class PlanningService:
    """Turns `RequestPlan` into a plan or a steered mission. Not thread-safe: call it where the director is called."""

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
        """Begin without an agent.

        Args:
            director: holds the mission.
            planner: the offline planner.
            make_agent: makes the agent of one mission; None: no language model is configured.
            who: the model's name, for the mission log.
            perception: what the agent may observe; None: nothing.
            limits: of the agent.
        """
        self._director, self._planner = director, planner
        self._make_agent, self._who, self._perception = make_agent, who, perception
        self._limits = limits
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="planner")
        self._requested: list[tuple[RequestPlan, Future[Proposal]]] = []
        """Requests that the offline planner works at."""
        self._steered: _Steered | None = None
        self._beside: _Steered | None = None
        """The order that waits while a mission is in work, if an agent of its own steers it."""

    @property
    def question(self) -> str:
        """What the operator is asked; empty: nothing."""
        return self._director.question

    def propose(self, command: RequestPlan, now_s: float) -> None:
        """Have a request planned; the answer is taken in by a later `tick`."""
        if command.part or command.beside:
            self._ask_planner(command)
            return
        self.drop("another order came")
        self._steered = self._begin(command, now_s)
        if self._steered is None:
            self._ask_planner(command)

    def _begin(self, command: RequestPlan, now_s: float, offline: Proposal | None = None) -> _Steered | None:
        """Start the language model on a request; None: there is no model, or the request is no longer awaited."""
        make = self._make_agent
        mission = self._director.stepwise.take_over(command.ticket, self._who, now_s) if make else None
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
        """Take words as the answer to the open question; return False where there is none."""
        return self._director.operator_says(text)

    def tick(self, now: Instant) -> list[Command]:
        """Take in the answers of the planner and the requests of agents; return the director's commands."""
        commands = self._serve_agents(now)
        done = [each for each in self._requested if each[1].done()]
        self._requested = [each for each in self._requested if each not in done]
        for command, plan in done:
            commands += self._planned(command, plan.result(), now)
        return commands

    def _planned(self, command: RequestPlan, result: Proposal, now: Instant) -> list[Command]:
        if self._make_agent is None or not self._director.waits(command.ticket):
            return self._director.planned(command.ticket, result, now)
        if isinstance(result, Plan):
            return self._director.understood(now)  # and the language model plans it, as any mission
        _end(self._beside, "another order came")
        self._beside = self._begin(command, now.stamp_s, result)
        return []

    def drop(self, reason: str) -> None:
        """End the conversation of the mission in work, if there is one."""
        steered, self._steered = self._steered, None
        _end(steered, reason)

    def close(self) -> None:
        """End all conversations and the planner's thread."""
        self.drop("the reasoner ends")
        _end(self._beside, "the reasoner ends")
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask_planner(self, command: RequestPlan) -> None:
        plan = self._pool.submit(self._planner.plan, command.sentence, command.palette)
        self._requested.append((command, plan))

    def _serve_agents(self, now: Instant) -> list[Command]:
        """Carry out the requests of the agents of the mission in work and of the order that waits."""
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
        """Return why an agent ended without ending its mission; None: it is at work, or outside the reasoner."""
        if steered.agent is None or not steered.agent.ended.done():
            return None
        steered.requests.close("the language model has ended")
        return steered.agent.ended.result() or "it ended without ending the mission"

    def _without_agent(self, steered: _Steered, reason: str, now: Instant) -> list[Command]:
        """Have the offline planner plan a request whose agent failed, if the agent has run nothing."""
        command = steered.command
        if command is None or not self._director.stepwise.failed(command.ticket, reason, now.stamp_s):
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
        """Answer a request by cameras, the reward monitor or the locator."""
        if self._perception is None:
            answer(Reply(False, "there are no cameras and no reward monitor here"))
        else:
            self._perception.sense(request, answer)


def _answer(reply: Future[Reply]) -> Callable[[Reply], None]:
    """Return what sets the reply of a request; one that comes after the mission's end is dropped."""

    def answer(value: Reply) -> None:
        if not reply.done():
            reply.set_result(value)

    return answer


def _end(steered: _Steered | None, reason: str) -> None:
    """End an agent's conversation and its open requests."""
    if steered:
        steered.requests.close(reason)
        if steered.agent:
            steered.agent.cancel()
