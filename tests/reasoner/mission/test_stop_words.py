"""Phrases of `stop_phrases.yaml` in every state that a mission can be in: what could mean "stop" ends all motion."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from director_desk import CONFIG, Desk
from test_resume import broken_off, restarted

from openral_core.instant import Instant
from openral_reasoner.mission.attempt import StopSkills
from openral_reasoner.mission.stopping.halting import PATIENCE_S, PERIOD_S
from openral_reasoner.mission.stopping.stop_words import Heard, heard, is_stop
from openral_reasoner.prompt_checks import MAX_SEEN
from openral_reasoner.word_stems import MAX_CHARACTERS

PHRASES: dict[str, list[str]] = yaml.safe_load(
    (Path(__file__).parent / "stop_phrases.yaml").read_text(encoding="utf-8")
)
FOREIGN = "f" * 32
STATES = ("own mission", "foreign goal", "question", "recovering")
MEANT = {
    "stops": {Heard.STOP},
    "stops_while_busy": {Heard.STOP_AND_MORE},
    "objections": {Heard.OBJECTION},
    "go_on": {Heard.GO_ON},
    "orders": {Heard.ORDER},
}


def in_state(state: str, folder: Path) -> Desk:
    """A desk where something goes on."""
    if state == "recovering":
        return restarted(folder, "ask", now=broken_off(folder) + 1)
    desk = Desk(config=CONFIG.model_copy(update={"ask_patience_s": 60.0}))
    if state == "foreign goal":
        desk.director.bridge_alive(desk.now, FOREIGN)
        return desk
    desk.say("open the drawer", "mission")
    if state == "question":
        desk.run(11)
        assert desk.director.question.startswith('Is "open the drawer" done')
    return desk


def test_there_are_phrases_enough() -> None:
    assert len(PHRASES["stops"]) >= 100
    assert len(set(PHRASES["stops"])) == len(PHRASES["stops"])


@pytest.mark.parametrize("kind", PHRASES)
def test_what_is_heard(kind: str) -> None:
    found = {phrase: (heard(phrase), is_stop(phrase)) for phrase in PHRASES[kind]}
    meant = [(word, kind == "stops") for word in MEANT[kind]]
    assert not {phrase: what for phrase, what in found.items() if what not in meant}


@pytest.mark.parametrize("phrase", [*PHRASES["stops"], *PHRASES["stops_while_busy"]])
def test_all_motion_ends(phrase: str, tmp_path: Path) -> None:
    for state in STATES:
        desk = in_state(state, tmp_path)
        stops, sent = desk.stops, len(desk.sent)
        desk.say(phrase, "words")
        assert desk.stops == stops + 1, state
        assert [entry.kind for entry in desk.log if entry.mission == "words"] == ["stop"], state
        assert not desk.director._active, state
        assert desk.director.question == "", state
        assert not desk.director.recovering, state
        if state == "own mission":
            assert desk.cancelled == [desk.sent[0].key]
        desk.run(3, 0.9)
        assert len(desk.sent) == sent, f"{state}: nothing began after the stop"


@pytest.mark.parametrize("state", ["own mission", "foreign goal"])
@pytest.mark.parametrize("phrase", PHRASES["objections"])
def test_an_objection_ends_motion(phrase: str, state: str, tmp_path: Path) -> None:
    desk = in_state(state, tmp_path)
    desk.say(phrase, "words")
    assert desk.stops == 1
    assert not desk.director._active


def test_an_objection_answers_a_question_while_nothing_moves(tmp_path: Path) -> None:
    desk = in_state("recovering", tmp_path)
    stops = desk.stops
    desk.say("no", "words")
    assert (desk.mission.state.value, desk.stops) == ("stopped", stops)
    assert "nobody said to go on" in desk.mission.message


def test_an_objection_is_a_stop_and_no_answer_while_something_moves(tmp_path: Path) -> None:
    desk = in_state("question", tmp_path)
    desk.director.bridge_alive(desk.now, FOREIGN)
    desk.say("no", "words")
    assert (desk.mission.state.value, desk.stops) == ("stopped", 1)


@pytest.mark.parametrize("phrase", PHRASES["go_on"])
def test_not_to_stop_is_neither_a_stop_nor_an_order(phrase: str, tmp_path: Path) -> None:
    desk = in_state("own mission", tmp_path)
    desk.say(phrase, "words")
    assert (desk.stops, desk.mission.id, desk.mission.state.value) == (0, "mission", "active")
    assert "orders nothing" in desk.log[-1].reason
    idle = Desk()
    idle.say(phrase, "words")
    assert (idle.sent, idle.mission.state.value) == ([], "failed")


@pytest.mark.parametrize("phrase", PHRASES["orders"])
def test_orders_are_not_swallowed(phrase: str, tmp_path: Path) -> None:
    desk = in_state("own mission", tmp_path)
    desk.say(phrase, "words")
    assert desk.stops == 0
    assert next(entry.kind for entry in desk.log if entry.mission == "words") == "prompt"


def test_a_stop_before_an_order_is_an_order_while_nothing_goes_on() -> None:
    desk = Desk()
    desk.say("hold on, open the drawer")
    assert [goal.instruction for goal in desk.sent] == ["open the drawer"]
    assert desk.stops == 1, "what the bridge does not know yet is stopped before"


def test_a_goal_that_somebody_announces_counts_as_motion() -> None:
    desk = Desk()
    desk.director.others_move = True
    desk.say("no")
    assert desk.stops == 1


def test_a_goal_that_goes_on_is_stopped_again_and_nothing_begins_meanwhile() -> None:
    desk = Desk()
    desk.director.bridge_alive(desk.now, FOREIGN)
    desk.say("stop", "s")
    assert desk.director.tick(Instant(desk.now, desk.now)) == []
    desk.now += PERIOD_S + 0.01
    assert desk.director.tick(Instant(desk.now, desk.now)) == [StopSkills(FOREIGN)], (
        "now the bridge drops it, too"
    )
    desk.say("open the drawer", "m")
    assert desk.sent == []
    desk.director.bridge_alive(desk.now, "")
    desk.do(desk.director.tick(Instant(desk.now, desk.now)))
    assert len(desk.sent) == 1


def test_a_goal_that_never_ends_is_left_to_itself() -> None:
    desk = Desk()
    desk.director.bridge_alive(desk.now, FOREIGN)
    desk.say("stop", "s")
    desk.now += PATIENCE_S + 1
    assert desk.director.tick(Instant(desk.now, desk.now)) == []
    desk.say("open the drawer", "m")
    desk.do(desk.director.tick(Instant(desk.now, desk.now)))
    assert len(desk.sent) == 1


def test_a_stop_with_a_known_id_stops_and_an_order_is_not_done_twice() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    desk.say("stop", "a")
    assert desk.mission.state.value == "stopped"
    desk.say("open the drawer", "a")
    assert len(desk.sent) == 1


@pytest.mark.parametrize(
    ("text", "prompt_id", "why"),
    [
        ("open\0the drawer", "p", "control character U+0000"),
        ("", "p", "there are no words in it"),
        (" …!\n", "p", "there are no words in it"),
        ("open the \u202edrawer", "p", "control character U+202E"),
        ("open the drawer \ud800", "p", "control character U+D800"),
        ("open the drawer " * 100, "p", f"at most {MAX_CHARACTERS}"),
        ("open the drawer", "p" * 65, "its id is not a line"),
        ("open the drawer", "p\n", "its id is not a line"),
    ],
)
def test_odd_prompts_are_refused_with_the_reason(text: str, prompt_id: str, why: str, tmp_path: Path) -> None:
    desk = Desk()
    desk.say(text, prompt_id)
    assert (desk.sent, desk.mission.state.value) == ([], "failed")
    assert why in desk.mission.message
    assert len(desk.mission.text) <= 300
    busy = in_state("own mission", tmp_path)
    busy.say(text, prompt_id)
    assert (busy.mission.id, busy.mission.state.value, len(busy.sent)) == ("mission", "active", 1)
    assert (busy.log[-1].kind, why in busy.log[-1].reason) == ("refused", True)
    assert max(len(entry.mission) for entry in busy.log) <= 64


@pytest.mark.parametrize(
    "text", ["stop " * 1000, "x" * 100_000 + " stop", "stop! " + "y" * 10_000_000, "stop\0\0\x07"]
)
def test_an_odd_prompt_that_could_mean_stop_stops(text: str, tmp_path: Path) -> None:
    desk = in_state("own mission", tmp_path)
    desk.say(text, "q" * 100)
    assert (desk.mission.state.value, desk.stops) == ("stopped", 1)
    assert max(len(entry.reason) for entry in desk.log) < 1000


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("write " + "_" * 200 + "ab", Heard.ORDER),
        ("s_t_o_p", Heard.STOP),
        ("_" * 200 + "s-t-o-p", Heard.STOP),
        ("_" * 200 + "ab, stop!", Heard.STOP_AND_MORE),
    ],
)
def test_lines_to_fill_in_are_read_at_once(text: str, meant: Heard) -> None:
    assert heard(text) is meant


def test_lines_of_a_list_are_no_control_characters() -> None:
    desk = Desk()
    desk.say("1. open the drawer\n2. close the drawer")
    assert len(desk.mission.tasks) == 2


def test_only_the_newest_ids_are_remembered() -> None:
    desk = Desk()
    for n in range(MAX_SEEN + 10):
        desk.say("2", f"id{n}")
    assert len(desk.director._seen._ids) == MAX_SEEN
