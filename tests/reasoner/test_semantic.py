"""Verbs that no table knows: embeddings ask about those that may mean a task, and never act."""

from __future__ import annotations

from typing import NoReturn

import pytest

from openral_core.errors import InstallationError
from openral_reasoner.evaluation.suite import DEFAULT, load_suite
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.offline.rules.matcher import ACCEPT, WORTH_ASKING
from openral_reasoner.offline.rules.semantic import SemanticMatcher, is_unknown_verb
from openral_reasoner.planner import Ask

TUNE = DEFAULT.with_name("free_tune.yaml")
OURS = {
    "drawer": ("drawer-open-v3", "pry prise outstretch unfasten"),
    "door": ("door-open-v3", "pry unbar"),
    "button": ("button-press-topdown-v3", "mash clobber thwack"),
    "puck": ("push-v3", "thrust jostle impel"),
    "peg": ("peg-insert-side-v3", "seat stuff socket lodge implant"),
}
OTHERS = "insure bless shoot praise copy salute caress engrave inherit hug upholster donate"
MARGIN_OF_OTHERS = 0.1
"""Share of the verbs that mean no task and may be asked about."""


@pytest.fixture(scope="module")
def matcher() -> SemanticMatcher:
    return SemanticMatcher()


def score(matcher: SemanticMatcher, verb: str, thing: str) -> tuple[float, list[str]]:
    """The best score, and the tasks that would be asked about."""
    clause = f"{verb} the {thing}"
    assert is_unknown_verb(clause), clause
    ranked = matcher.rank(clause, load_suite(TUNE).palette)
    return (ranked[0].score if ranked else 0.0), [
        m.task.id for m in ranked if m.task and m.score >= WORTH_ASKING
    ]


def test_embeddings_ask_and_never_act(matcher: SemanticMatcher) -> None:
    ours = {(v, t): (score(matcher, v, t), task) for t, (task, verbs) in OURS.items() for v in verbs.split()}
    others = {(v, t): score(matcher, v, t) for t in ("drawer", "button", "peg") for v in OTHERS.split()}
    assert max(best for (best, _), _ in ours.values()) < ACCEPT
    assert max(best for best, _ in others.values()) < ACCEPT
    meant = [pair for pair, ((_, asked), task) in ours.items() if task in asked]
    meddling = [pair for pair, (_, asked) in others.items() if asked]
    print(
        f"asked about {len(meant)} of {len(ours)} verbs that mean a task, {len(meddling)} of {len(others)} others"
    )
    print(*meant, "|", *meddling)
    assert len(meant) >= 0.3 * len(ours), set(ours) - set(meant)
    assert len(meddling) <= MARGIN_OF_OTHERS * len(others), meddling


def test_the_question_names_the_task(matcher: SemanticMatcher) -> None:
    asked = OfflinePlanner(matcher).plan("lodge the peg, then close the drawer", load_suite(TUNE).palette)
    assert isinstance(asked, Ask)
    assert [task.skill_task for task in asked.options[0].tasks] == ["peg-insert-side-v3", "drawer-close-v3"]
    assert asked.question.startswith('Did you mean "insert the peg into the hole, then close the drawer"')


def test_a_word_that_points_the_other_way_is_no_question(matcher: SemanticMatcher) -> None:
    ranked = matcher.rank("pry the drawer in", load_suite(TUNE).palette)
    assert "drawer-open-v3" not in [match.task.id for match in ranked if match.task]


def test_without_the_encoder_the_tables_decide_alone(caplog: pytest.LogCaptureFixture) -> None:
    def missing() -> NoReturn:
        raise InstallationError("the sentence encoder is not installed")

    matcher = SemanticMatcher(load=missing)
    palette = load_suite(TUNE).palette
    assert matcher.rank("lodge the peg", palette) == []
    assert matcher.rank("open the drawer", palette)[0].score == 1.0
    assert "the sentence encoder is not installed" in caplog.text
