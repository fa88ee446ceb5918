"""What the skills that ship are worth, as Markdown: a row a skill for README.md, a row a task for docs/skills.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from metaworld_difficulty import difficulty_rows
from page_parts import ROOT


class Judged(NamedTuple):
    """A policy, and the suites of the same tasks that judged it."""

    skill: str
    does: str
    """Its tasks in a few words."""
    suites: dict[str, str]
    """By the suite's name: what its column says; the first is the one that README.md tells."""


SUITES = (
    Judged(
        "mini-metaworld",
        "drawer, window and button of MetaWorld",
        {"metaworld_mini": "plain words", "metaworld_mini_unheard": "unheard words"},
    ),
    Judged("mini-metaworld-mt10", "the ten tasks of MT10", {"metaworld_mt10_fast": ""}),
    Judged("mini-metaworld-mt50", "the fifty tasks of MT50", {"metaworld_mt50_fast": ""}),
    Judged("mini-metaworld-published", "the fifty, one camera, MetaWorld's own look", {"metaworld_mt50": ""}),
    Judged("mini-robosuite-panda", "Lift, Stack and Can with a Panda", {"robosuite_panda_fast": ""}),
    Judged("mini-robosuite-sawyer", "Lift, Stack and Can with a Sawyer", {"robosuite_sawyer_fast": ""}),
)
FIFTY = ("metaworld_mt50_fast", "metaworld_mt50")
"""Suites of all of MetaWorld's tasks, whose rows are gathered by difficulty, too."""
LONG = 20
"""Tasks above which a suite's rows are gathered by how often they were solved."""
REWARDS = (
    ("mini-progress", "mini_progress"),
    ("mini-progress-mt10", "mini_progress_mt10"),
    ("mini-progress-robosuite", "mini_progress_robosuite"),
)
"""Reward models, and the recipes whose unseen states judged them."""
TOLD_KINDS = ("gesture at another state", "constant or random motion", "near miss, or undone again")
"""Kinds of failure whose wrong yeses README.md tells; docs/skills.md has all."""


def summary() -> list[str]:
    """Return a row a policy, then a row a reward model."""
    lines = [row("policy", "does", "solved on unseen states (95 % interval)"), "|---|---|---|"]
    for skill, does, suites in SUITES:
        results = _results(skill, next(iter(suites)))
        lines.append(row(f"`{skill}`", does, rate(results["all_episodes"])))
    heads = (*(f"called done: {kind}" for kind in TOLD_KINDS), "successes missed", "not judged")
    lines += ["", row("reward monitor", *heads), "|" + "---|" * (1 + len(heads))]
    for skill, recipe in REWARDS:
        results = _results(skill, recipe)
        shares = [results["called_done_by_kind"][kind] for kind in TOLD_KINDS]
        shares += [results["missed_success"], results["abstained_on_success"]]
        lines.append(row(f"`{skill}`", *(f"{100 * share['rate']:.1f} %" for share in shares)))
    return lines


def full() -> list[str]:
    """Return every table of every skill."""
    lines: list[str] = []
    for skill, _, suites in SUITES:
        lines += [*suite_table(skill, suites), ""]
    for index, (skill, recipe) in enumerate(REWARDS):
        lines += [""] * bool(index) + reward_table(skill, recipe)
    return lines


def suite_table(skill: str, suites: dict[str, str]) -> list[str]:
    """Return a row a task and a column a suite, from the results in a skill's folder."""
    columns = [_results(skill, suite) for suite in suites]
    tasks = columns[0]["tasks"]
    rows: Sequence[tuple[str, ...]] = [
        (task.split("/", 1)[-1], *(rate(column["tasks"][task]) for column in columns)) for task in tasks
    ]
    if len(tasks) > LONG:
        rows = gathered(tasks)
    rows = [*rows, ("**all**", *(f"**{rate(column['all_episodes'])}**" for column in columns))]
    for suite, column in zip(suites, columns, strict=True):
        if suite in FIFTY:
            rows += difficulty_rows(column["episodes"])
    return [
        row(f"`{skill}`, solved on unseen states (95 % interval)", *suites.values()),
        "|" + "---|" * (1 + len(suites)),
        *(row(*cells) for cells in rows),
    ]


def gathered(tasks: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return rows `9 of 10 | door-close, reach-wall`: the tasks of a suite by how often each was solved."""
    by_rate: dict[tuple[int, int], list[str]] = {}
    for task, entry in tasks.items():
        name = task.split("/", 1)[-1].removesuffix("-v3")
        by_rate.setdefault((entry["successes"], entry["n_episodes"]), []).append(name)
    return [
        (f"{successes} of {episodes}", f"{len(names)} tasks" if len(names) > LONG else ", ".join(names))
        for (successes, episodes), names in sorted(by_rate.items(), reverse=True)
    ]


def reward_table(skill: str, recipe: str) -> list[str]:
    """Return the measures of a reward model."""
    results = _results(skill, recipe)
    said, missed = results["false_success"], results["missed_success"]
    kinds = results.get("called_done_by_kind", {})
    rows = [
        *((f"called done and was not: {kind}", counted(entry)) for kind, entry in kinds.items()),
        (
            "VOC, rank correlation of progress with time on successes",
            f"{results['voc_mean']:.3f} (n = {results['voc_rollouts']})",
        ),
        (
            "AUROC of success against failure",
            f"{results['auroc']:.3f} ({results['successes']} / {results['failures']})",
        ),
        (f"failures called success in the last frame, at {results['threshold']}", percent(said)),
        (f"successes missed at {results['threshold']}", percent(missed)),
    ]
    if "abstained_on_success" in results:
        rows.append(("successes that it would rather not judge", percent(results["abstained_on_success"])))
    return [
        f"| `{skill}`, on unseen rollouts and unheard words | |",
        "|---|---|",
        *(f"| {a} | {b} |" for a, b in rows),
    ]


def rate(entry: dict[str, Any]) -> str:
    """Return `48/50 (0.87–0.99)`: successes, episodes and the Wilson interval."""
    low, high = entry["wilson_95"]
    return f"{entry['successes']}/{entry['n_episodes']} ({low:.2f}–{high:.2f})"


def counted(share: dict[str, Any]) -> str:
    """Return `1 of 300: 0.3 % (0.1–1.9)`."""
    return f"{share['count']} of {share['of']}: {percent(share)}"


def percent(share: dict[str, Any]) -> str:
    """Return `0.5 % (0.1–2.9)`."""
    low, high = share["wilson_95"]
    return f"{100 * share['rate']:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def row(*cells: str) -> str:
    """Return a line of a table."""
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def _results(skill: str, name: str) -> dict[str, Any]:
    file = ROOT / "rskills" / skill / "eval" / f"{name}.json"
    results: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["results"]
    return results
