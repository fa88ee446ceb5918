"""Who plans a mission: the language model where one is configured, else, and when it fails, the offline planner.

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
from openral_reasoner.planner import Planner, Proposal


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
        self._plan: tuple[Propose, Future[Proposal]] | None = None
        self._steered: _Steered | None = None

    @property
    def question(self) -> str:
        """What the operator is asked; empty: nothing."""
        return self._director.question

    def propose(self, command: Propose, now_s: float) -> None:
        """Let somebody think about a sentence."""
        if command.part:
            self._ask_planner(command)
            return
        self.drop("another order came")
        if self._make_agent is None or not self._director.steered(command.ticket, self._who, now_s):
            self._ask_planner(command)
            return
        requests = RequestQueue()
        agent = self._make_agent(requests)
        steering = Steering(self._director, self._limits)
        self._steered = _Steered(self._director.mission, requests, steering, agent, command)
        agent.start(command.sentence, command.palette, command.history)

    def steered_from_outside(self, requests: RequestQueue, who: str, approval: Approval) -> None:
        """An agent outside the reasoner steers the director's mission, by the requests that come here.

        Args:
            requests: closed when the mission ends.
            who: the agent, for questions to the operator.
            approval: which of its motions the operator is asked about.
        """
        self.drop("another agent came")
        steering = Steering(self._director, self._limits, who=who, approval=approval)
        self._steered = _Steered(self._director.mission, requests, steering, None)

    def operator_says(self, text: str) -> bool:
        """Take words as the answer to the open question; False: there is none."""
        return self._director.operator_says(text)

    def tick(self, now: Instant) -> list[Command]:
        """Take in what came from the other threads."""
        commands = self._serve_agent(now)
        if self._plan and self._plan[1].done():
            command, thought = self._plan
            self._plan = None
            commands += self._director.planned(command.ticket, thought.result(), now)
        return commands

    def drop(self, reason: str) -> None:
        """Break off the agent at work, if there is one."""
        steered, self._steered = self._steered, None
        if steered:
            steered.requests.close(reason)
            if steered.agent:
                steered.agent.cancel()

    def close(self) -> None:
        """Let go of all threads."""
        self.drop("the reasoner ends")
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask_planner(self, command: Propose) -> None:
        thought = self._pool.submit(self._planner.plan, command.sentence, command.palette)
        self._plan = (command, thought)

    def _serve_agent(self, now: Instant) -> list[Command]:
        steered = self._steered
        if steered is None:
            return []
        commands: list[Command] = []
        for request, reply in steered.requests.take():
            commands += self._serve(steered.steering, request, _answer(reply), now)
        if self._director.mission is not steered.mission or steered.mission.state is not MissionState.ACTIVE:
            self.drop(steered.mission.message)
            return commands
        steered.steering.tick(now)
        if steered.agent and steered.command and steered.agent.ended.done():
            self._steered = None
            steered.requests.close("the language model has ended")
            reason = steered.agent.ended.result() or "it ended without ending the mission"
            if self._director.agent_failed(steered.command.ticket, reason, now.stamp_s):
                self._ask_planner(steered.command)
        return commands

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
