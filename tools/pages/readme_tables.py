"""Write the tables of README.md and of five pages of docs/ from results in the repository: no figure is typed by hand.

Those of the skills lie beside them; those of speed are what `make perf` wrote last; what the reward monitor is worth
is what `openral reasoner ablation --out docs/results/ablation.json` wrote last.

python tools/pages/readme_tables.py            # rewrite the pages
python tools/pages/readme_tables.py --check    # exit 1 if it is out of date
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from page_parts import ROOT, keep, with_part
from skill_tables import REWARDS, counted, full, summary
from skill_tables import row as _row

from openral_core.statistics import wilson_interval
from openral_reward_monitor.models.calibration import FILE_NAME, Calibration

README = ROOT / "README.md"
DOCS = ROOT / "docs"
RESULTS = DOCS / "results"
SPEED = ROOT / "tests" / "perf" / "results.json"
SPEED_TOLD = (
    "the same look, drawn when the policy is asked",
    "control rate, real time",
    "start of `openral deploy sim`",
    "operator's stop",
    "image 640x480 rgb8 at 30 Hz",
    "bare queryable",
    "sidecar call, two images of 224",
)
"""Parts of the measurements, or of what they are beside, that README.md tells; docs/speed.md has all."""
SKILLS_PAGE, SPEED_PAGE = DOCS / "skills.md", DOCS / "speed.md"
REASONER = ROOT / "docs" / "reasoner.md"
ABLATION = RESULTS / "ablation.json"
REWARD = ROOT / "docs" / "reward.md"
PERCEPTION = ROOT / "docs" / "perception.md"
DETECTORS = {
    "detector": ROOT / "rskills" / "mini-detector" / "eval" / "mini_detector.json",
    "detector robosuite": ROOT
    / "rskills"
    / "mini-detector-robosuite"
    / "eval"
    / "mini_detector_robosuite.json",
}
"""Where the table of each stands in the page, and the results that it is made of."""
LOOKS = {
    "plain": "as the scene looks",
    "random": "random colours, lights, other shapes",
    "removed": "as the scene looks, but the thing is gone",
}
VIEWS = {"": "as in training", ".other-look": "other lights and tints", ".moved-camera": "camera 3 cm off"}
"""Ends of the names of a reward model's results, and how the worlds were seen in them."""
REWARD_BEFORE = ("reward_before.json", "reward_plain_views.json")
"""In docs/results, results of former versions of mini-progress on the same films: 0.1.0, which saw the newest frame
alone and was taught no misses, and 0.2.0, which was taught no other views."""
REWARD_BEFORE_MT10 = (
    "reward_before_mt10.json",
    "reward_one_camera_mt10.json",
    "reward_two_cameras_mt10.json",
    "reward_lingering_mt10.json",
)
"""The same of former versions of mini-progress-mt10."""
DOUBT_THRESHOLDS = (0.8, 0.7)
"""Least probabilities of being done that count as a yes: the one that ships, and a lower one."""


def reward_trials(versions: dict[str, dict[str, Any]]) -> list[str]:
    """Return a row a measure, and a column for each version of a reward model, the newest last."""
    *_, now = versions.values()
    rows = [
        (
            f"called done and was not: {kind}",
            *(counted(r["called_done_by_kind"][kind]) for r in versions.values()),
        )
        for kind in now["called_done_by_kind"]
    ]
    for words, key in (("successes missed", "missed_success"), ("abstained on", "abstained_on_success")):
        rows.append((words, *(counted(r[key]) for r in versions.values())))
    voc = (f"{r['voc_mean']:.3f}, least of a film {r['voc_min']:.2f}" for r in versions.values())
    rows.append(("VOC", *voc))
    return [_row("", *versions), "|" + "---|" * (1 + len(versions)), *(_row(*row) for row in rows)]


def reward_doubt(folder: Path, recipe: str) -> list[str]:
    """Return a row a task: on how many successes it abstains at each of DOUBT_THRESHOLDS; then what else they change.

    The rows of the result hold the score of each film's last frame, the calibration what it means.
    """
    result = json.loads((folder / "eval" / f"{recipe}.json").read_text(encoding="utf-8"))
    calibration = Calibration.model_validate_json((folder / FILE_NAME).read_bytes())
    camera = calibration.cameras[result["eval_config"]["camera"]]

    def counts(rows: list[dict[str, Any]], answer: bool | None) -> list[str]:
        scores = [min(row["progress"], row["success"]) for row in rows]
        return [
            counted(of([camera.is_done(score, threshold) for score in scores].count(answer), len(rows)))
            for threshold in DOUBT_THRESHOLDS
        ]

    rows = result["results"]["rollouts"]
    done, failed = ([row for row in rows if row["truth"] is truth] for truth in (True, False))
    lines = [
        (f"`{task}`", *counts([row for row in done if row["task"] == task], None))
        for task in dict.fromkeys(row["task"] for row in done)
    ]
    lines += [
        ("**all**", *counts(done, None)),
        ("successes missed", *counts(done, False)),
        ("failures whose last frame is a yes", *counts(failed, True)),
    ]
    header = (f"a yes from {threshold:g} on" for threshold in DOUBT_THRESHOLDS)
    return [_row("successes abstained on", *header), "|---|---|---|", *(_row(*line) for line in lines)]


def reward_policies() -> list[str]:
    """Return a row a reward model: what it says of the attempts of skills, strong and weak ones."""
    header = ("attempts of skills, judged by", "failures called done", "successes missed", "abstained on")
    lines = [_row(*header), "|---|---|---|---|"]
    for model, recipe in REWARDS[:2]:
        found = json.loads((ROOT / "rskills" / model / "eval" / f"{recipe}.json").read_text(encoding="utf-8"))
        rows = [row for row in found["results"]["rollouts"] if row["behaviour"] == "policy"]
        said = [row["said"] for row in rows if row["truth"]]
        lines.append(
            _row(
                f"`{model}` {found['provenance']['skill_version']}",
                counted(found["results"]["called_done_by_kind"]["a skill's own failures"]),
                *(counted(of(said.count(answer), len(said))) for answer in ("no", "abstain")),
            )
        )
    return lines


def of(count: int, whole: int) -> dict[str, Any]:
    """Return a share as the results have it, with its Wilson interval."""
    return {"rate": count / whole, "wilson_95": wilson_interval(count, whole), "count": count, "of": whole}


def reward_views(plain: dict[str, Any], others: list[dict[str, Any]]) -> list[str]:
    """Return a row a measure, and a column for each way in which the worlds were seen."""
    columns = [plain, *others]
    kinds = [
        kind for kind in plain["called_done_by_kind"] if all(kind in r["called_done_by_kind"] for r in others)
    ]
    rows = [
        (f"called done and was not: {kind}", *(counted(r["called_done_by_kind"][kind]) for r in columns))
        for kind in kinds
    ]
    for words, key in (("successes missed", "missed_success"), ("abstained on", "abstained_on_success")):
        rows.append((words, *(counted(r[key]) for r in columns)))
    rows.append(("VOC", *(f"{r['voc_mean']:.3f}" for r in columns)))
    return [_row("", *VIEWS.values()), "|---|---|---|---|", *(_row(*row) for row in rows)]


def reward_second_look(results: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """Return two rows a model: what a second look changes for failures and for successes."""
    lines = [_row("", "three frames", "and five more"), "|---|---|---|"]
    for model, found in results:
        for words, key in (
            ("called done and was not", "called_done"),
            ("done and never called so", "never_called"),
        ):
            lines.append(
                _row(f"{model}: {words}", *(counted(found[rule][key]) for rule in ("without", "with")))
            )
    return lines


def speed_table(results: dict[str, Any]) -> list[str]:
    """Return a row a measurement, and what they were made with."""
    machine = results["machine"]
    return [
        "| measured | figure | beside it in the same run | wanted |",
        "|---|---|---|---|",
        *(
            f"| {row['measured']} | {row['figure']} | {row['reference']} | {row['bar']} |"
            for row in results["rows"]
        ),
        "",
        f"{machine['date']}, {machine['processor']}, {machine['cores']} cores with a load of "
        f"{machine['load_1min_at_the_end']} at the end, Python {machine['python']}, "
        f"eclipse-zenoh {machine['eclipse-zenoh']}.",
    ]


def ablation_table(results: dict[str, Any]) -> list[str]:
    """Return a row a variant."""
    lines = [
        "| with | done (95 % interval) | called done and was not | simulated time, mean | attempts | questions |",
        "|---|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        low, high = row["interval"]
        lines.append(
            f"| {row['variant']} | {row['done']}/{row['missions']} ({low:.2f}–{high:.2f}) | {row['false_claims']} "
            f"| {row['seconds_mean']} s | {row['attempts_mean']} | {row['questions_mean']} |"
        )
    return lines


def reasoner_page(text: str) -> str:
    """Return docs/reasoner.md with its table made anew."""
    return with_part(text, "ablation", ablation_table(json.loads(ABLATION.read_text(encoding="utf-8"))))


def reward_page(text: str) -> str:
    """Return docs/reward.md with its table made anew."""
    skill, recipe = REWARDS[0]
    shipped = ROOT / "rskills" / skill / "eval" / f"{recipe}.json"
    versions = reward_versions(shipped, REWARD_BEFORE)
    *_, now = versions.values()
    folder = shipped.parent
    seen = [
        json.loads((folder / f"{recipe}{end}.json").read_text(encoding="utf-8"))["results"]
        for end in VIEWS
        if end
    ]
    text = with_part(text, "views", reward_views(now, seen))
    looks = [
        (words, result["second_look"]) for words, result in zip(list(VIEWS.values())[1:], seen, strict=True)
    ]
    text = with_part(text, "second look", reward_second_look(looks))
    text = with_part(text, "trials", reward_trials(versions))
    text = with_part(text, "policies", reward_policies())
    skill, recipe = REWARDS[1]
    shipped = ROOT / "rskills" / skill / "eval" / f"{recipe}.json"
    text = with_part(text, "mt10 doubt", reward_doubt(shipped.parents[1], recipe))
    return with_part(text, "mt10 trials", reward_trials(reward_versions(shipped, REWARD_BEFORE_MT10)))


def reward_versions(shipped: Path, before: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the results of a reward model by its version: those in files of docs/, then those that ship."""
    found = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in (*(RESULTS / name for name in before), shipped)
    ]
    return {result["provenance"]["skill_version"]: result["results"] for result in found}


def share(entry: dict[str, Any], part: str, whole: str) -> str:
    """Return `18/20 (0.70–0.97)`, with the Wilson interval of that part; a dash: nothing was asked."""
    if not entry[whole]:
        return "–"
    low, high = entry[f"{part.split('_')[0]}_interval"]
    return f"{entry[part]}/{entry[whole]} ({low:.2f}–{high:.2f})"


def detector_table(results: dict[str, Any]) -> list[str]:
    """Return, for each look, a row a label: how often it was found, errors in centimetres, finds of what is absent."""
    lines: list[str] = []
    for look, words in LOOKS.items():
        found = results["by_look"][look]
        lines += [""] * bool(lines)
        lines += [_row(words, "found", "median cm", "p90 cm", "named though absent"), "|---|---|---|---|---|"]
        for label, entry in (*found["by_label"].items(), ("**all**", found)):
            lines.append(
                _row(
                    label,
                    share(entry, "found", "n"),
                    *(f"{entry[key]:.1f}" if key in entry else "–" for key in ("median_cm", "p90_cm")),
                    share(entry, "false_finds", "n_absent"),
                )
            )
    return lines


def perception_page(text: str) -> str:
    """Return docs/perception.md with its tables made anew."""
    for part, path in DETECTORS.items():
        text = with_part(text, part, detector_table(json.loads(path.read_text(encoding="utf-8"))["results"]))
    return text


def readme(text: str) -> str:
    """Return the README with a row a skill, and the measurements of speed that it tells."""
    speed = json.loads(SPEED.read_text(encoding="utf-8"))
    told = [row for part in SPEED_TOLD for row in speed["rows"] if part in row["measured"] + row["reference"]]
    return with_part(with_part(text, "skills", summary()), "speed", speed_table({**speed, "rows": told}))


def skills_page(text: str) -> str:
    """Return docs/skills.md with its tables made anew."""
    return with_part(text, "skills", full())


def speed_page(text: str) -> str:
    """Return docs/speed.md with its table made anew."""
    return with_part(text, "speed", speed_table(json.loads(SPEED.read_text(encoding="utf-8"))))


def main() -> int:
    """Rewrite or check."""
    return keep(
        {
            README: readme,
            SKILLS_PAGE: skills_page,
            SPEED_PAGE: speed_page,
            REASONER: reasoner_page,
            REWARD: reward_page,
            PERCEPTION: perception_page,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
