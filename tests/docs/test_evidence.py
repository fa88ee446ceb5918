"""What the pages say was measured, and that none of their commands writes over it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from test_pages import PAGES, ROOT, blocks
from typer.testing import CliRunner

from openral_core.errors import OutputError
from openral_core.files.named_files import names_of
from openral_core.suite import SUITE_PATTERNS, load_suite
from openral_training.commands import app as train
from openral_training.reward_commands import app as judge

sys.path.insert(0, str(ROOT / "tools" / "pages"))

from heldout_distance import JUDGED, judged_states, nearest, state, trained_states
from heldout_distance import RESULTS as DISTANCES
from metaworld_difficulty import GROUPS, difficulty_rows

SHIPPED = sorted(path.parent.name for path in (ROOT / "rskills").glob("*/rskill.yaml"))
ALL_PAGES = [*PAGES, *sorted((ROOT / "rskills").glob("*/README.md"))]
COUNTS = {"Ten": 10, "Fifty": 50}
MT50 = ROOT / "rskills" / "mini-metaworld-mt50" / "eval" / "metaworld_mt50_fast.json"


def options(page: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each openral command of a page with the values that follow its options."""
    for block in blocks(page):
        for command in block.commands():
            words = shlex.split(command)
            if words[:1] == ["openral"]:
                yield command, dict(zip(words, [*words[1:], ""], strict=True))


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_command_of_a_page_writes_into_a_skill_that_ships(page: Path) -> None:
    shipped = {(ROOT / "rskills" / name).resolve() for name in SHIPPED}
    writing = []
    for command, given in options(page):
        out = (ROOT / given["--out"]).resolve() if "--out" in given else ROOT
        if shipped & {out, *out.parents}:
            writing.append(command)
        judges = "--update-manifest" in given or command.startswith("openral reward calibrate")
        judged = given.get("--rskill", "")
        if judges and (judged in SHIPPED or (ROOT / judged).resolve() in shipped):
            writing.append(command)
    assert not writing


@pytest.mark.parametrize("command", ["bc", "reward"])
def test_training_does_not_replace_weights_that_were_judged(command: str, tmp_path: Path) -> None:
    (tmp_path / "skill" / "eval").mkdir(parents=True)
    measured = tmp_path / "skill" / "eval" / "points.json"
    measured.write_text(json.dumps({"results": {"avg_success_rate": 1.0}}))
    done = CliRunner().invoke(
        train, [command, "--dataset", str(tmp_path / "none"), "--out", str(tmp_path / "skill")]
    )
    assert isinstance(done.exception, OutputError)
    assert "points.json in its eval/ was measured with the weights that are there" in str(done.exception)
    assert [path.name for path in (tmp_path / "skill").iterdir()] == ["eval"]


@pytest.mark.parametrize("name", names_of(SUITE_PATTERNS))
def test_a_suite_says_how_many_states_it_runs(name: str) -> None:
    first = load_suite(name).scenes[0]
    said = first.metadata.honest_scope.split()[0]
    assert COUNTS.get(said, first.n_episodes) == first.n_episodes


def test_what_ships_says_how_many_states_were_run() -> None:
    for path in sorted((ROOT / "rskills").glob("*/eval/*.json")):
        content = json.loads(path.read_text())
        said = str(content["benchmark"].get("protocol", "")).split(" ")[0]
        if said in COUNTS:
            assert content["eval_config"]["n_episodes"] == COUNTS[said], path


def test_the_groups_of_difficulty_are_all_fifty_tasks_and_their_mean_is_that_of_the_rows() -> None:
    rows = json.loads(MT50.read_text())["results"]["episodes"]
    assert {name: len(tasks) for name, tasks in GROUPS.items()} == {
        "easy": 28,
        "medium": 11,
        "hard": 6,
        "very hard": 5,
    }
    named = [f"metaworld/{task}-v3" for tasks in GROUPS.values() for task in tasks]
    assert sorted(named) == sorted({row["task"] for row in rows})
    made = difficulty_rows(rows)
    rates = []
    for tasks in GROUPS.values():
        mine = [row["success"] for row in rows if row["task"][len("metaworld/") : -len("-v3")] in tasks]
        rates.append(sum(mine) / len(mine))
    assert made[-1] == ("mean of the four groups", f"{sum(rates) / 4:.3f}")
    assert made[-2] == ("mean of the fifty tasks", f"{sum(row['success'] for row in rows) / len(rows):.3f}")


@pytest.mark.parametrize(
    "words",
    [("--update-manifest",), ("--out", "rskills/mini-progress/eval/mini_progress.json")],
)
def test_judging_a_reward_model_that_ships_leaves_its_result(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    file = ROOT / "rskills" / "mini-progress" / "eval" / "mini_progress.json"
    before = file.stat().st_mtime_ns
    out = () if "--out" in words else ("--out", str(tmp_path / "out.json"))
    done = CliRunner().invoke(judge, ["eval", "--rskill", "mini-progress", *words, *out])
    assert isinstance(done.exception, OutputError)
    assert "holds a measured result, which is not overwritten" in str(done.exception)
    assert file.stat().st_mtime_ns == before


def test_the_nearest_state_of_training_is_found_by_every_pair() -> None:
    trained = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.4]])
    heldout = np.array([[0.0, 0.1, 0.0], [0.3, 0.0, 0.4], [0.3, 0.4, 0.1]])
    assert nearest(heldout, trained).tolist() == pytest.approx([0.1, 0.0, 0.5])


def test_distances_are_those_of_the_states_that_ship() -> None:
    """One task is drawn again; its states are those of the rows, and training's those of the manifest."""
    results = json.loads(DISTANCES.read_text())["rows"]
    assert [(row["skill"], row["suite"]) for row in results] == list(JUDGED)
    for row in results:
        judged = judged_states(row["skill"], row["suite"])
        assert {task: len(found) for task, found in row["distances_m"].items()} == {
            task: len(numbers) for task, numbers in judged.items()
        }
    task = "metaworld/drawer-open-v3"
    assert trained_states("mini-metaworld", task) == list(range(100))
    heldout, trained = (
        np.stack([state(task, number) for number in numbers])
        for numbers in (judged_states("mini-metaworld", "metaworld_mini")[task], range(100))
    )
    assert results[0]["distances_m"][task] == pytest.approx(nearest(heldout, trained).tolist(), abs=1e-5)


def test_the_table_of_the_world_model_is_that_of_its_result() -> None:
    page = (ROOT / "docs" / "world-model.md").read_text()
    for row in json.loads((ROOT / "docs" / "results" / "world_model_eval.json").read_text())["horizons"]:
        figures = [f"{row[name]:.1f} dB" for name in ("psnr_db", "psnr_still_db", "psnr_nearest_db")]
        assert f" | {' | '.join(figures)} | {row['ssim']:.2f} | " in page
        assert row["psnr_db"] > max(row["psnr_still_db"], row["psnr_nearest_db"])


def test_the_page_of_real_arms_says_what_its_trials_came_to() -> None:
    page = (ROOT / "docs" / "real-arms.md").read_text()
    for task in ("lift", "stack", "can"):
        found = json.loads((ROOT / "docs" / "results" / f"real_arms_{task}.json").read_text())
        rows = found["results"]["episodes"]
        done = sum(row["success"] for row in rows)
        low, high = found["results"]["wilson_95"]
        assert [row["init_id"] for row in rows] == list(range(1000, 1050))
        assert done == found["results"]["successes"]
        assert f"| {task.title()}, at most {found['plan']['max_steps']}" in page
        assert f"| {done} of {len(rows)} ({low:.2f} to {high:.2f}) |" in page
