"""Words that come while a mission is in work: it goes on until an order is understood."""

from __future__ import annotations

from typing import Any

import pytest
from agent_table import CONFIG, TOOL, Table, skill
from director_desk import Desk

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressThresholds
from openral_reasoner.llm.fakes import Call, Script
from openral_reasoner.mission.attempt import RequestPlan
from openral_reasoner.mission.director import Director
from openral_reasoner.palette import Palette
from openral_reasoner.planner import CannotDo, Plan, Proposal

NO_ORDERS = ("", "what are you doing?", "fry an egg", "open the drawer\a", "x" * 2000)


class Later:
    """A planner that is asked by `Desk`, and answers a second order when the test says so."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.asked: list[RequestPlan] = []

    def order(self, text: str, prompt_id: str) -> None:
        commands = self.desk.director.prompt(prompt_id, text, self._now)
        self.asked += [command for command in commands if isinstance(command, RequestPlan)]

    def answer(self, result: Proposal | None = None) -> None:
        asked = self.asked.pop()
        plan = result or self.desk.planner.plan(asked.sentence, asked.palette)
        self.desk.do(self.desk.director.planned(asked.ticket, plan, self._now))

    @property
    def _now(self) -> Instant:
        return Instant(self.desk.now, self.desk.now)


def steps(desk: Desk, mission: str) -> list[tuple[str, str]]:
    return [(entry.kind, entry.reason) for entry in desk.log if entry.mission == mission]


@pytest.mark.parametrize("words", NO_ORDERS)
def test_a_mission_goes_on_beside_words_that_are_no_order(words: str) -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    desk.run(1, 0.2)
    desk.say(words, "b")
    desk.run(1, 0.2)
    assert (desk.mission.id, desk.mission.state.value, desk.cancelled) == ("a", "active", [])
    assert steps(desk, "b")[-1][0] == "refused"
    desk.run(2, 0.95)
    assert desk.mission.state.value == "done"


def test_what_is_refused_beside_a_mission_says_what_can_be_done() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    desk.say("fry an egg", "b")
    kind, why = steps(desk, "b")[-1]
    assert (kind, why.startswith('"fry an egg": I cannot do this')) == ("refused", True)
    assert "What I can do: open the drawer; close the drawer." in why


def test_an_order_takes_the_place_of_a_mission_when_it_is_understood() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    later = Later(desk)
    later.order("close the drawer", "b")
    desk.run(1, 0.2)
    assert (desk.mission.id, desk.director.idle, desk.cancelled) == ("a", False, [])
    later.answer()
    desk.run(1, 0.2)
    assert (desk.mission.id, desk.cancelled) == ("b", [desk.sent[0].key])
    assert steps(desk, "a")[-1][1] == 'replaced by "close the drawer"'
    assert [goal.instruction for goal in desk.sent] == ["open the drawer", "close the drawer"]


def test_an_order_begins_when_the_mission_ends_before_it_is_understood() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    Later(desk).order("close the drawer", "b")
    desk.run(3, 0.95)
    assert steps(desk, "a")[-1][1].startswith("mission done")
    assert (desk.mission.id, [goal.instruction for goal in desk.sent][-1]) == ("b", "close the drawer")


def test_a_stop_ends_the_mission_and_the_order_that_waits() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    later = Later(desk)
    later.order("close the drawer", "b")
    desk.say("stop", "c")
    later.answer()
    desk.run(1, 0.2)
    assert (desk.mission.id, desk.mission.state.value, len(desk.sent)) == ("a", "stopped", 1)
    assert steps(desk, "b")[-1] == ("refused", '"close the drawer": stopped: the operator said "stop"')


def test_the_emergency_stop_ends_the_order_that_waits() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    later = Later(desk)
    later.order("close the drawer", "b")
    desk.do(desk.director.estop(True, Instant(desk.now, desk.now)))
    later.answer()
    desk.run(1, 0.2)
    assert (desk.mission.id, desk.mission.state.value, len(desk.sent)) == ("a", "stopped", 1)
    assert steps(desk, "b")[-1][0] == "refused"


def test_the_newest_order_is_the_one_that_waits() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    later = Later(desk)
    later.order("close the drawer", "b")
    later.order("close the drawer", "c")
    assert steps(desk, "b")[-1][0] == "refused"
    later.answer()
    later.answer(CannotDo("it was late", ()))
    desk.run(1, 0.2)
    assert desk.mission.id == "c"


def test_a_mission_that_has_not_begun_does_not_begin_before_the_next_order_is_understood() -> None:
    desk = Desk(palette=Palette())
    ready = Desk().palette
    desk.say("open the drawer", "a")
    desk.say("close the drawer", "b")
    desk.director.palette(ready, desk.now)
    desk.run(1, 0.2)
    assert [goal.instruction for goal in desk.sent] == ["close the drawer"]


def test_an_order_that_may_mean_something_is_not_done_and_says_what_it_may_mean() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    later = Later(desk)
    later.order("the drawer should be shut", "b")
    asked = desk.planner.plan("open it", desk.palette)
    assert not isinstance(asked, Plan)
    later.answer(asked)
    assert (desk.mission.id, desk.director.question) == ("a", "")
    assert steps(desk, "b")[-1] == ("refused", f'"the drawer should be shut": {asked.sentence}')


OPEN = (TOOL, {"task": "drawer-open-v3", "why": "it was ordered"})
CLOSE = (TOOL, {"task": "drawer-close-v3", "why": "it was ordered"})


class Both:
    """Opens the drawer, and follows a script in the conversation about any other order."""

    def __init__(self, calls: list[Call]) -> None:
        self._other = Script(calls)

    def __call__(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Call:
        """Return the next call."""
        opens = "open the drawer" in str(messages[-1 if len(messages) == 1 else 1]["content"]).splitlines()[0]
        return OPEN if opens else self._other(messages, tools)


def beside_a_long_mission(words: str, calls: list[Call]) -> Table:
    """Let a language model open a drawer, which takes long, and say other words meanwhile."""
    table = Table(
        Both(calls), palette=Palette((skill(max_execution_s=1e6),)), works=lambda goal: goal.key > 1
    )
    patient = ProgressThresholds(default_patience_s=1e6)
    table.director = Director(table.log.append, gate=patient, config=CONFIG)
    table.director.palette(table.palette, table.now)
    said: list[str] = []

    def until() -> bool:
        if table.sent and not said:
            said.append(words)
            table.order(words, "b")
        mine = [entry.kind for entry in table.log if entry.mission == "b"]
        return bool({"refused", "answered", "mission"} & set(mine))

    table.say("open the drawer", until=until)
    return table


@pytest.mark.parametrize(("done", "kind"), [(True, "answered"), (False, "refused")])
def test_a_language_model_answers_in_words_beside_its_mission(done: bool, kind: str) -> None:
    says = ("finish_mission", {"done": done, "words": "I am opening the drawer"})
    table = beside_a_long_mission("what are you doing?", [says])
    told = [(entry.kind, entry.reason) for entry in table.log if entry.mission == "b"]
    assert told[-1] == (kind, '"what are you doing?": I am opening the drawer')
    mission = table.director.mission
    assert (mission.text, mission.state.value, len(table.sent)) == ("open the drawer", "active", 1)


def test_a_language_model_asks_nothing_beside_a_mission() -> None:
    calls = [
        ("ask_operator", {"question": "why?"}),
        ("finish_mission", {"done": False, "words": "which one?"}),
    ]
    table = beside_a_long_mission("do the other one", calls)
    assert table.words("question") == []
    assert table.words("refused") == ['"do the other one": which one?']


def test_what_only_a_language_model_understands_takes_the_place_with_its_first_task() -> None:
    end = ("finish_mission", {"done": True, "words": "it is shut"})
    table = beside_a_long_mission("mach die Schublade wieder zu", [CLOSE, end])
    assert [goal.task for goal in table.sent] == ["drawer-open-v3", "drawer-close-v3"]
    assert (table.director.mission.id, table.director.mission.message) == ("b", "it is shut")
    assert 'replaced by "mach die Schublade wieder zu"' in table.words("mission")


def test_what_the_offline_planner_understands_does_not_wait_for_the_language_model() -> None:
    end = ("finish_mission", {"done": True, "words": "it is shut"})
    table = beside_a_long_mission("close the drawer", [CLOSE, end])
    kinds = [entry.kind for entry in table.log]
    assert 'replaced by "close the drawer"' in table.words("mission")
    assert kinds.index("mission") < len(kinds) - 1 - kinds[::-1].index("model")
    assert (table.director.mission.id, table.director.mission.state.value) == ("b", "done")
