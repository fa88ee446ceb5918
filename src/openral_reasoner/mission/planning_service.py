"""Who plans a mission: the language model where one is configured, else, and when it fails, the offline planner.

Neither ever runs in the node's own thread. `tick` looks in on them, ten times a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from openral_reasoner.mission.attempt import Command, Propose
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.mission import Mission, MissionState
from openral_reasoner.mission.request_queue import Desk, Look, QueryProgress, Reply, Request
from openral_reasoner.mission.steering import Steering, SteeringLimits
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Planner, Proposal


class Agent(Protocol):
    """A conversation that steers one mission (`openral_reasoner.llm.agent.MissionAgent`)."""

    ended: Future[str]

    def start(self, order: str, palette: Palette, history: Sequence[str] = ()) -> None:
        """Begin; returns at once. `history`: what became of tasks before a restart."""
        ...

    def cancel(self) -> None:
        """Break off."""
        ...


class Senses(Protocol):
    """What an agent may see of the world; answers come when they come."""

    def sense(self, request: Look | QueryProgress, answer: Callable[[Reply], None]) -> None:
        """Look through a camera, or ask the reward monitor."""
        ...


MakeAgent = Callable[[Desk], Agent]


class Thinker:
    """Turns `Propose` into a plan or a steered mission. Not thread-safe: call it where the director is called."""

    def __init__(
        self,
        director: Director,
        planner: Planner,
        *,
        make_agent: MakeAgent | None = None,
        who: str = "",
        senses: Senses | None = None,
        limits: SteeringLimits | None = None,
    ) -> None:
        """Begin with nobody at work.

        Args:
            director: holds the mission.
            planner: the one without a model.
            make_agent: makes the agent of one mission; None: no model is configured.
            who: the model's name, for the mission log.
            senses: what the agent may see.
            limits: how much the agent may do.
        """
        self._director, self._planner = director, planner
        self._make_agent, self._who, self._senses = make_agent, who, senses
        self._limits = limits
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="planner")
        self._plan: tuple[Propose, Future[Proposal]] | None = None
        self._steered: tuple[Propose, Mission, Agent, Desk, Steering] | None = None

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
        desk = Desk()
        agent = self._make_agent(desk)
        steering = Steering(self._director, self._limits)
        self._steered = (command, self._director.mission, agent, desk, steering)
        agent.start(command.sentence, command.palette, command.history)

    def operator_says(self, text: str) -> bool:
        """Take words as the answer to the open question; False: there is none."""
        return self._director.operator_says(text)

    def tick(self, now_s: float, wall_s: float) -> list[Command]:
        """Take in what came from the other threads."""
        commands = self._serve_agent(now_s, wall_s)
        if self._plan and self._plan[1].done():
            command, thought = self._plan
            self._plan = None
            commands += self._director.planned(command.ticket, thought.result(), now_s, wall_s)
        return commands

    def drop(self, reason: str) -> None:
        """Break off the agent at work, if there is one."""
        if self._steered:
            _, _, agent, desk, _ = self._steered
            self._steered = None
            desk.close(reason)
            agent.cancel()

    def close(self) -> None:
        """Let go of all threads."""
        self.drop("the reasoner ends")
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask_planner(self, command: Propose) -> None:
        thought = self._pool.submit(self._planner.plan, command.sentence, command.palette)
        self._plan = (command, thought)

    def _serve_agent(self, now_s: float, wall_s: float) -> list[Command]:
        if self._steered is None:
            return []
        command, mission, agent, desk, steering = self._steered
        commands: list[Command] = []
        for request, reply in desk.take():
            commands += self._serve(steering, request, _answer(reply), now_s, wall_s)
        if self._director.mission is not mission or mission.state is not MissionState.ACTIVE:
            self.drop(mission.message)
            return commands
        steering.tick(now_s, wall_s)
        if agent.ended.done():
            self._steered = None
            desk.close("the language model has ended")
            reason = agent.ended.result() or "it ended without ending the mission"
            if self._director.agent_failed(command.ticket, reason, now_s):
                self._ask_planner(command)
        return commands

    def _serve(
        self,
        steering: Steering,
        request: Request,
        answer: Callable[[Reply], None],
        now_s: float,
        wall_s: float,
    ) -> list[Command]:
        if not isinstance(request, (Look, QueryProgress)):
            return steering.handle(request, answer, now_s, wall_s)

        def observed(reply: Reply) -> None:
            steering.observed(reply)
            answer(reply)

        if self._senses is None:
            answer(Reply(False, "there is nothing to see with"))
        else:
            self._senses.sense(request, observed)
        return []


def _answer(reply: Future[Reply]) -> Callable[[Reply], None]:
    """A reply that comes after the mission's end finds nobody."""

    def answer(value: Reply) -> None:
        if not reply.done():
            reply.set_result(value)

    return answer
