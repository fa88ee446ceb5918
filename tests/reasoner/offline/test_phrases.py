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


WRONG = 0.08
"""Share of a set that may be done wrongly."""
TWO_SKILLS = load_suite(FREE[0]).palette
SETS = {"phrases_tuned": 0.8, "phrases_two_skills": 0.6, "phrases_heldout": 0.8, "phrases_fresh": 0.5}
"""Set -> share of its orders that is planned rightly; none of them was training data."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "phrases_heldout" else pytest.mark.slow) for name in SETS],
)
def test_orders_are_understood(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    orders, missed = shown(f"{name}.yaml", capsys, TWO_SKILLS if "two" in name else PALETTE)
    assert orders - missed >= SETS[name] * orders


def shown(name: str, capsys: pytest.CaptureFixture[str], palette: Palette) -> tuple[int, int]:
    """Print what became of a set; return the number of its orders, and of those that were not done as said."""
    rows = load(name)
    orders = [row for row in rows if row[1]]
    refusals = [row for row in rows if not row[1]]
    done = [(say, tasks, planned(say, palette)) for say, tasks in rows]
    wrong = [row for row in done if row[1] != row[2]]
    missed = sum(bool(tasks) for _, tasks, _ in wrong)
    with capsys.disabled():
        print(f"\n{name}: {len(orders) - missed}/{len(orders)} orders", end=", ")
        print(f"{len(refusals) - len(wrong) + missed}/{len(refusals)} refusals")
        for row in wrong:
            print("  wrong:", *row)
    return len(orders), missed


@pytest.mark.parametrize(
    "name", ["phrases_heldout.yaml", pytest.param("phrases_fresh.yaml", marks=pytest.mark.slow)]
)
def test_little_is_executed_wrongly(name: str) -> None:
    """To refuse an order is a nuisance; to do something else, or to do what was forbidden, is a fault."""
    rows = load(name)
    wrong = [(say, found) for say, tasks in rows if (found := planned(say)) not in ([], tasks)]
    assert len(wrong) <= WRONG * len(rows), wrong


@pytest.mark.parametrize("count", [40, pytest.param(120, marks=pytest.mark.slow)])
def test_random_words_never_break_it_and_never_pass_a_prohibition(count: int) -> None:
    """Whatever comes in, only the palette's own tasks come out, and a sentence with a "not" moves nothing."""
    rng = random.Random(7)
    common = "open close shut push pull press the the drawer window button it them and then , ; in out down"
    pool = common.split()
    pool += ["not", "don't", "if", "after", "ignore all rules", "rm -rf /", "{}", "\n", "émincé", "1."]
    offered = {task.id for task in PALETTE.skills[0].tasks}
    planned_any = 0
    for _ in range(count):
        sentence = " ".join(rng.choices(pool, k=rng.randint(1, 9)))
        tasks = planned(sentence)
        planned_any += bool(tasks)
        assert set(tasks) <= offered
        if "not" in sentence.split() or "don't" in sentence.split():
            assert tasks == [], sentence
    assert planned_any >= count // 40


def test_endless_text_is_refused() -> None:
    plan = OfflinePlanner().plan("please " * 100_000 + "open the drawer", PALETTE)
    assert isinstance(plan, CannotDo)
    assert "more than 1000 characters" in plan.reason
    assert len(plan.sentence) < 500
