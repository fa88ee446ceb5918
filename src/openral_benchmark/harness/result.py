"""The result of a suite of missions: success rates by row and variant, false claims, and paired comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from openral_benchmark.compare import exact_mcnemar
from openral_benchmark.harness.ablations import ROWS
from openral_benchmark.harness.perturbations import VARIANTS
from openral_benchmark.harness.suite_run import MissionSetting, counts_sha256, other_skills
from openral_benchmark.result import benchmark_section
from openral_core.scene import BenchmarkScene
from openral_core.statistics import wilson_interval
from openral_core.suite import Suite
from openral_rskill.registry import RSkillPackage
from openral_rskill.result_provenance import provenance, weights_sha256

ALL = "all"
"""Stands in place of a variant for all variants together."""
AGAINST = (
    ("harness", "script"),
    ("harness", "bare"),
    ("harness", "home"),
    ("harness", "retry"),
    ("harness_true", "script_true"),
    ("harness_true", "bare"),
    *(("harness", name) for name, row in ROWS.items() if row.ablation),
)
"""Pairs of rows that are compared, episode by episode."""
MissionRows = Sequence[Mapping[str, Any]]


def mission_result(
    suite: Suite,
    package: RSkillPackage,
    scenes: Sequence[BenchmarkScene],
    setting: MissionSetting,
    rows: MissionRows,
    command: str,
) -> dict[str, Any]:
    """Return the eval JSON.

    Args:
        suite: what was run.
        package: the policy.
        scenes: those of its scenes that were run.
        setting: how it was run.
        rows: every episode, in any order.
        command: the command line, for the provenance.
    """
    first = scenes[0]
    order = {name: number for number, name in enumerate((*ROWS, *VARIANTS))}
    rows = sorted(rows, key=lambda r: (r["init_id"], r["task"], order[r["variant"]], order[r["row"]]))
    states = sorted({row["init_id"] for row in rows})
    beside = {each.folder: each for scene in scenes for each in other_skills(scene)}
    return {
        "schema_version": "0.1",
        "benchmark": benchmark_section(suite, first),
        "eval_config": {
            "vla_id": package.manifest.name,
            "tasks": [scene.task.id for scene in scenes],
            "init_ids": [states[0], states[-1]] if states else [],
            "max_steps": first.task.max_steps,
            "attempt_steps": setting.attempt_steps,
            "device": setting.device,
            "allow_unevaluated": setting.allow_unevaluated,
            "counts": setting.counts.name if setting.counts else None,
            "counts_sha256": counts_sha256(setting.counts),
            "rows": {name: ROWS[name].title for name in _in_order(ROWS, rows, "row")},
            "variants": {name: VARIANTS[name].title for name in _in_order(VARIANTS, rows, "variant")},
            "truth": {name: _truth(rows, name) for name in _in_order(ROWS, rows, "row")},
        },
        "results": {
            "rows": {name: _row(rows, name) for name in _in_order(ROWS, rows, "row")},
            "comparisons": [
                compared
                for better, other in AGAINST
                for variant in (*_in_order(VARIANTS, rows, "variant"), ALL)
                if (compared := compare_rows(rows, better, other, variant)) is not None
            ],
            "all_episodes": {"successes": sum(row["success"] for row in rows), "n_episodes": len(rows)},
            "episodes": list(rows),
        },
        "provenance": {
            **provenance(package, command),
            "beside": {
                each.manifest.name: {
                    "version": each.manifest.version,
                    "weights_sha256": weights_sha256(each) if each.manifest.kind != "ros_action" else None,
                }
                for each in beside.values()
            },
        },
    }


def _in_order(known: Iterable[str], rows: MissionRows, field: str) -> list[str]:
    there = {row[field] for row in rows}
    return [name for name in known if name in there]


def _truth(rows: MissionRows, name: str) -> list[str]:
    """Return the parts that the simulator answered for in any scene of a row."""
    return sorted({part for row in rows if row["row"] == name for part in row["truth"]})


def _row(rows: MissionRows, name: str) -> dict[str, Any]:
    """Return the success rates of one row, by variant and over all, and its counts of claims that the task was done."""
    mine = [row for row in rows if row["row"] == name]
    variants = _in_order(VARIANTS, mine, "variant")
    cells = {variant: rate([row for row in mine if row["variant"] == variant]) for variant in variants}
    claims = [row for row in mine if row["claimed_step"] is not None]
    false = sum(not row["success"] for row in claims)
    low, high = wilson_interval(false, len(claims)) if claims else (0.0, 1.0)
    return {
        "variants": {**cells, ALL: rate(mine)},
        "claimed": len(claims),
        "claimed_and_never_done": false,
        "claimed_and_not_done_then": sum(not row["true_at_claim"] for row in claims),
        "false_claims_wilson_95": [round(low, 4), round(high, 4)],
        "done_and_claimed": sum(row["success"] for row in claims),
    }


def rate(rows: MissionRows) -> dict[str, Any]:
    """Return successes, rate and Wilson interval of at least one episode; one without a result is a failure."""
    successes = sum(bool(row["success"]) for row in rows)
    low, high = wilson_interval(successes, len(rows))
    return {
        "success_rate": round(successes / len(rows), 4),
        "wilson_95": [round(low, 4), round(high, 4)],
        "successes": successes,
        "n_episodes": len(rows),
        "errors": sum(bool(row["error"]) for row in rows),
    }


def compare_rows(rows: MissionRows, better: str, other: str, variant: str) -> dict[str, Any] | None:
    """Compare two rows on the episodes that both ran, by an exact McNemar test; return None if there are none."""
    solved: dict[str, dict[tuple[str, str, int], bool]] = {better: {}, other: {}}
    for row in rows:
        if row["row"] in solved and variant in (ALL, row["variant"]):
            solved[row["row"]][row["variant"], row["task"], row["init_id"]] = bool(row["success"])
    both = sorted(set(solved[better]) & set(solved[other]))
    if not both:
        return None
    won = sum(solved[better][key] and not solved[other][key] for key in both)
    lost = sum(solved[other][key] and not solved[better][key] for key in both)
    return {
        "row": better,
        "against": other,
        "variant": variant,
        "n": len(both),
        "won": won,
        "lost": lost,
        "p_value": float(f"{exact_mcnemar(won, lost):.3g}"),
    }
