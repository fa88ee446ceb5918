"""Sentences against plans: one set the vocabulary was tuned on, one it never saw."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from openral_reasoner.evaluation.suite import FREE, load_suite
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.palette import Palette, Skill, SkillTask
from openral_reasoner.planner import CannotDo, Plan

FOLDER = Path(__file__).parent
UNDERSTOOD_FIRST = 8
"""Orders of phrases_fresh.yaml, of 29, that the first run planned rightly."""
OPPOSITES = {"open": "close", "close": "open"}

PALETTE = Palette(
    (
        Skill(
            name="openral/rskill-mini-metaworld",
            slug="mini_metaworld",
            node="/openral/policy/mini_metaworld",
            action_server="/openral/skills/mini_metaworld/execute",
            actions=("open", "close", "push"),
            objects=("drawer", "window", "button"),
            scenes=("tabletop",),
            tasks=(
                SkillTask("drawer-open-v3", ("open the drawer", "pull the drawer out")),
                SkillTask("drawer-close-v3", ("close the drawer", "push the drawer in")),
                SkillTask("window-open-v3", ("open the window", "slide the window open")),
                SkillTask("window-close-v3", ("close the window", "slide the window shut")),
                SkillTask("button-press-topdown-v3", ("press the button", "push the button down from above")),
            ),
        ),
    )
)


def load(name: str) -> list[tuple[str, list[str]]]:
    return [(row["say"], row["tasks"]) for row in yaml.safe_load((FOLDER / name).read_text())]


def planned(sentence: str, palette: Palette = PALETTE) -> list[str]:
    """Ids of what would be done unasked; behind a guarded one, the task whose success is its condition."""
    plan = OfflinePlanner().plan(sentence, palette)
    if not isinstance(plan, Plan):
        return []
    return [
        f"{task.skill_task} if {task.guard.condition.task}" if task.guard else task.skill_task
        for task in plan.tasks
    ]


@pytest.mark.parametrize(("sentence", "tasks"), load("phrases_tuned.yaml"))
def test_tuned(sentence: str, tasks: list[str]) -> None:
    assert planned(sentence) == tasks


TWO_SKILLS = load_suite(FREE[0]).palette


@pytest.mark.parametrize(("sentence", "tasks"), load("phrases_two_skills.yaml"))
def test_two_skills(sentence: str, tasks: list[str]) -> None:
    assert planned(sentence, TWO_SKILLS) == tasks


def test_held_out(capsys: pytest.CaptureFixture[str]) -> None:
    orders, missed = shown("phrases_heldout.yaml", capsys)
    assert missed <= 0.15 * orders


def test_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    """What was understood in the first run stays understood; that nothing is done wrongly is tested below."""
    orders, missed = shown("phrases_fresh.yaml", capsys)
    assert orders - missed >= UNDERSTOOD_FIRST


def shown(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
    """Print what became of a set; return the number of its orders, and of those that were not done as said."""
    rows = load(name)
    orders = [row for row in rows if row[1]]
    refusals = [row for row in rows if not row[1]]
    wrong = [(say, tasks, planned(say)) for say, tasks in rows if planned(say) != tasks]
    missed = sum(bool(tasks) for _, tasks, _ in wrong)
    with capsys.disabled():
        print(f"\n{name}: {len(orders) - missed}/{len(orders)} orders", end=", ")
        print(f"{len(refusals) - len(wrong) + missed}/{len(refusals)} refusals")
        for row in wrong:
            print("  wrong:", *row)
    return len(orders), missed


@pytest.mark.parametrize("name", ["phrases_heldout.yaml", "phrases_fresh.yaml"])
def test_nothing_is_executed_wrongly(name: str) -> None:
    """To refuse an order is a nuisance; to do something else, or to do what was forbidden, is a fault."""
    for sentence, tasks in load(name):
        assert planned(sentence) in ([], tasks), sentence


def test_random_words_never_break_it_and_never_pass_a_prohibition() -> None:
    """Whatever comes in, only the palette's own tasks come out, and a sentence with a "not" moves nothing."""
    rng = random.Random(7)
    common = "open close shut push pull press the the drawer window button it them and then , ; in out down"
    pool = common.split()
    pool += ["not", "don't", "if", "after", "ignore all rules", "rm -rf /", "{}", "\n", "émincé", "1."]
    offered = {task.id for task in PALETTE.skills[0].tasks}
    planned_any = 0
    for _ in range(3000):
        sentence = " ".join(rng.choices(pool, k=rng.randint(1, 9)))
        tasks = planned(sentence)
        planned_any += bool(tasks)
        assert set(tasks) <= offered
        if "not" in sentence.split() or "don't" in sentence.split():
            assert tasks == [], sentence
    assert planned_any > 10


def test_endless_text_is_refused() -> None:
    plan = OfflinePlanner().plan("please " * 100_000 + "open the drawer", PALETTE)
    assert isinstance(plan, CannotDo)
    assert "more than 1000 characters" in plan.reason
    assert len(plan.sentence) < 500
