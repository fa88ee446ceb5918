"""Judges a planner on written missions: one row a mission, and a summary, one entry a kind of mission."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from openral_core.errors import OpenralError
from openral_core.statistics import wilson_interval
from openral_reasoner.evaluation.suite import MissionSuite, WrittenMission
from openral_reasoner.evaluation.world import SimulatedDeployment
from openral_reasoner.mission.agent_requests import RequestQueue
from openral_reasoner.mission.mission import MissionState
from openral_reasoner.mission.planning_service import Agent, MakeAgent
from openral_reasoner.palette import Palette


@dataclass(frozen=True)
class MissionRow:
    """One mission and its outcome."""

    kind: str
    say: str
    wanted: tuple[str, ...]
    done: tuple[str, ...]
    state: str
    correct: bool
    """Whether exactly the wanted tasks were done, in order, and the mission ended accordingly."""
    wrong: int
    """Goals of tasks that were not ordered."""
    needless: int
    """Goals beyond those that were needed."""
    asked: int
    """Questions to the operator."""
    seconds: float
    """[s] wall time."""
    message: str
    fallback: str = ""
    """Why the offline planner planned the sentence in place of the model; empty: it did not."""


class ModelUnreachedError(OpenralError):
    """The language model did not answer the first sentence, so there is nothing to judge."""


def evaluate(
    suite: MissionSuite,
    *,
    make_agent: MakeAgent | None = None,
    who: str = "offline",
    progress: Callable[[MissionRow], None] = lambda row: None,
) -> list[MissionRow]:
    """Run every mission once, each in a fresh deployment.

    Args:
        suite: skills and missions.
        make_agent: makes the agent of a mission; None: the offline planner.
        who: the planner's name.
        progress: called after each mission.

    Raises:
        ModelUnreachedError: the model is not there, or refuses; the first mission tells.
    """
    agents: list[Agent] = []

    def make(requests: RequestQueue) -> Agent:
        assert make_agent is not None
        agents.append(make_agent(requests))
        return agents[-1]

    rows = list[MissionRow]()
    for written in suite.missions:
        rows.append(_run(written, suite.palette, make if make_agent else None, who))
        if len(rows) == 1 and agents and agents[0].unreached:
            raise ModelUnreachedError(
                f"{agents[0].ended.result()}; nothing was judged: give the address of an endpoint that serves the "
                "model, and its key"
            )
        progress(rows[-1])
    return rows


def _run(written: WrittenMission, palette: Palette, make_agent: MakeAgent | None, who: str) -> MissionRow:
    world = SimulatedDeployment(written, palette, make_agent, who)
    begun = time.monotonic()
    world.run()
    seconds = time.monotonic() - begun
    state = world.mission.state
    hopeless = {task for task, count in written.fails.items() if task not in written.do and count > 0}
    succeeded = state is MissionState.DONE
    fitting = succeeded == (bool(written.do) and written.reachable)
    if not written.do and written.kind == "conditional":
        fitting = True  # where nothing has to be done, both ends are right
    wrong = sum(task not in written.do and task not in hopeless for task in world.sent)
    needed = len(written.do) + sum(min(count, 3) for count in written.fails.values())
    return MissionRow(
        kind=written.kind,
        say=written.say,
        wanted=written.do,
        done=world.done,
        state=state.value,
        correct=world.done == written.do and wrong == 0 and fitting,
        wrong=wrong,
        needless=max(0, len(world.sent) - needed),
        asked=sum(entry.kind == "question" for entry in world.log),
        seconds=round(seconds, 4),
        message=world.mission.message,
        fallback=world.fallback,
    )


def is_done_wrongly(done: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether the tasks that were done are not a subsequence of the wanted ones."""
    left = iter(wanted)
    return not all(task in left for task in done)


def summary(rows: Sequence[MissionRow]) -> Iterator[dict[str, Any]]:
    """Yield one entry a kind, and one for all: counts, accuracy with its Wilson interval, rates, time."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    for kind in [*kinds, "all"]:
        chosen = [row for row in rows if kind in (row.kind, "all")]
        correct = sum(row.correct for row in chosen)
        low, high = wilson_interval(correct, len(chosen))
        yield {
            "kind": kind,
            "missions": len(chosen),
            "correct": correct,
            "accuracy": round(correct / len(chosen), 4),
            "interval": [round(low, 4), round(high, 4)],
            "wrong_skill_rate": round(sum(row.wrong > 0 for row in chosen) / len(chosen), 4),
            "needless_goals": sum(row.needless for row in chosen),
            "asked": sum(row.asked > 0 for row in chosen),
            "fallbacks": sum(bool(row.fallback) for row in chosen),
            "seconds_p50": round(float(np.median([row.seconds for row in chosen])), 4),
        }


def report(rows: Sequence[MissionRow], who: str) -> dict[str, Any]:
    """Return summary and rows as plain values, for a JSON file."""
    return {"planner": who, "summary": list(summary(rows)), "rows": [asdict(row) for row in rows]}
