"""Suites on the fake world: the same rows for any number of workers, after a kill, and around blocks that fail."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import version
from pathlib import Path

import numpy as np
import psutil
import pytest
from benchmark_points import (
    TASKS,
    crowded,
    episodes,
    has_block,
    invoke,
    started,
    until,
    words,
    write_skill,
    write_suite,
)
from typer.testing import CliRunner

from openral_benchmark.commands import app
from openral_benchmark.compare import compare, exact_mcnemar
from openral_core.files.share import share_directory
from openral_rskill.result_provenance import package_versions


def return_of_near(init_id: int, steps: int) -> float:
    """The sum of the fake world's rewards, worked out: minus the distance to the point after each step."""
    x, y = -0.006 * np.arange(1, steps + 1), 0.001 * init_id + 0.004 * np.arange(1, steps + 1)
    return -float(np.hypot(x + 0.15, y - 0.1).sum())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where an undisturbed run with the skill that reaches the points has written."""
    folder = tmp_path_factory.mktemp("whole")
    invoke(*words(folder, "out"))
    return folder / "out"


@pytest.fixture(scope="module")
def crowded_whole(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """The rows of an undisturbed run of one worker, with the skill whose answers depend on the batch."""
    folder = tmp_path_factory.mktemp("crowded")
    invoke(*words(folder, "out", "--workers", "1", "--num-envs", "3", skill=crowded(folder)))
    rows = episodes(folder / "out")
    assert len({row["steps"] for row in rows}) > 3
    return rows


@pytest.mark.parametrize(
    "policies", [pytest.param(1, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.slow)]
)
def test_rows_depend_neither_on_the_number_of_workers_nor_on_that_of_policy_processes(
    tmp_path, crowded_whole, policies
):
    skill = crowded(tmp_path, delay_s=0.01)
    several = ("--workers", "3", "--policies", str(policies), "--num-envs", "3")
    invoke(*words(tmp_path, "out", *several, skill=skill))
    assert json.dumps(episodes(tmp_path / "out")) == json.dumps(crowded_whole)
    engine = json.loads((tmp_path / "out" / "result.json").read_text())["engine"]
    assert (engine["workers"], engine["policies"], engine["policy_loads"]) == (3, policies, policies)
    assert engine["inferred_s"] >= 0.01 * engine["batches"]
    assert min(engine["simulated_s"], engine["waited_s"]) > 0


@pytest.mark.long
def test_several_sentences_are_said_in_turn_whoever_runs_the_episodes(tmp_path):
    said = ("reach it", "go there", "touch the point")
    write_suite(tmp_path, said=said)
    for count in ("1", "2"):
        invoke(*words(tmp_path, count, "--workers", count, "--num-envs", "2"))
    rows = episodes(tmp_path / "1")
    assert rows == episodes(tmp_path / "2")
    assert [row["instruction"] for row in rows] == [said[row["init_id"] % 20 % 3] for row in rows]


def test_one_policy_is_loaded_and_answers_whole_batches(tmp_path):
    invoke(*words(tmp_path, "out", "--workers", "2", "--num-envs", "8"))
    engine = json.loads((tmp_path / "out" / "result.json").read_text())["engine"]
    assert (engine["workers"], engine["policy_loads"], engine["lost"]) == (2, 1, 0)
    assert engine["mean_batch"] >= 4


def test_a_result_has_every_episode(whole):
    rows = episodes(whole)
    assert [(row["task"], row["init_id"]) for row in rows] == [
        (f"fake/{task}", i) for task in TASKS for i in range(20, 40)
    ]
    assert [row["success"] for row in rows] == [row["init_id"] < 37 for row in rows]
    assert rows[0]["return"] == pytest.approx(return_of_near(20, rows[0]["steps"]), abs=1e-3)
    content = json.loads((whole / "result.json").read_text())
    assert content["results"]["fake/near_success_rate"] == 0.85
    assert content["results"]["tasks"]["fake/far"]["wilson_95"] == [0.6396, 0.9476]
    assert content["eval_config"]["deviations"] == []
    assert content["provenance"]["skill"] == "tests/rskill-reacher"
    assert len(content["provenance"]["weights_sha256"]) == 64
    assert content["provenance"]["packages"]["mujoco"] == version("mujoco")
    page = (whole / "report.html").read_text()
    assert page.count("class='e s'") == 34
    assert "http" not in page.replace("https://arxiv.org", "")


@pytest.mark.parametrize("which", [pytest.param("policy", marks=pytest.mark.slow), "worker"])
def test_a_process_that_dies_changes_no_row(tmp_path, crowded_whole, which):
    skill = crowded(tmp_path, delay_s=0.03)
    process = started(words(tmp_path, "hit", "--num-envs", "3", "--workers", "2", skill=skill))
    until(lambda: has_block(tmp_path / "hit" / "rows.jsonl"))
    children = psutil.Process(process.pid).children()
    policy, *workers = (child for child in children if "spawn_main" in " ".join(child.cmdline()))
    (policy if which == "policy" else workers[0]).kill()
    assert process.wait(120) == 0
    assert episodes(tmp_path / "hit") == crowded_whole
    engine = json.loads((tmp_path / "hit" / "result.json").read_text())["engine"]
    assert engine["lost"] >= 1
    assert engine["policy_loads"] == (2 if which == "policy" else 1)


@pytest.mark.slow
def test_a_killed_run_leaves_nothing_behind(tmp_path):
    process = started(words(tmp_path, "out", "--num-envs", "1", "--workers", "2"))
    until(lambda: has_block(tmp_path / "out" / "rows.jsonl"))
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 3
    process.kill()
    process.wait()
    assert psutil.wait_procs(children, timeout=60)[1] == []


@pytest.mark.long
def test_a_killed_run_goes_on_and_ends_with_the_same_rows(tmp_path, whole):
    episode_log = tmp_path / "killed" / "rows.jsonl"
    process = started(words(tmp_path, "killed"))
    until(lambda: has_block(episode_log))
    process.kill()
    process.wait()
    kept = episode_log.read_text()
    episode_log.write_text(kept + '{"block": 7, "err')  # a line that the kill cut off
    refused = CliRunner().invoke(app, words(tmp_path, "killed"))
    assert "there are rows already; add --resume" in str(refused.exception)
    invoke(*words(tmp_path, "killed", "--resume"))
    assert episodes(tmp_path / "killed") == episodes(whole)
    assert episode_log.read_text().startswith(kept)


def test_a_row_that_somebody_changed_is_named(tmp_path, whole):
    shutil.copytree(whole.parent, tmp_path, dirs_exist_ok=True)
    episode_log = tmp_path / "out" / "rows.jsonl"
    lines = episode_log.read_text().splitlines()
    lines[1] = json.dumps({**json.loads(lines[1]), "success": "often"})
    episode_log.write_text("\n".join(lines) + "\n")
    refused = CliRunner().invoke(app, words(tmp_path, "out", "--resume"))
    fix = "is no row of a run (success); copy the file back, or name another --out"
    assert f"rows.jsonl:2: {fix}" in str(refused.exception)
    assert episode_log.read_text().splitlines() == lines


def test_rows_of_another_setting_or_of_other_weights_are_not_gone_on_with(tmp_path, whole, monkeypatch):
    shutil.copytree(whole.parent, tmp_path, dirs_exist_ok=True)
    refusal = "these rows are of another run: other "
    other = CliRunner().invoke(app, words(tmp_path, "out", "--resume", "--task", "fake/near"))
    assert f"{refusal}tasks (fake/near, fake/far there, fake/near here" in str(other.exception)
    other = CliRunner().invoke(app, words(tmp_path, "out", "--resume", "--picture-delay", "1"))
    assert f"{refusal}picture_delay (0 there, 1 here); name another --out" in str(other.exception)
    with monkeypatch.context() as upgraded:
        versions = {**package_versions(), "mujoco": "99.0"}
        upgraded.setattr("openral_benchmark.run_identity.package_versions", lambda: versions)
        other = CliRunner().invoke(app, words(tmp_path, "out", "--resume"))
        assert f"{refusal}mujoco ({version('mujoco')} there, 99.0 here); name" in str(other.exception)
    tensors = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    content = len(tensors).to_bytes(8, "little") + tensors + bytes(4)
    (tmp_path / "reacher" / "model.safetensors").write_bytes(content)
    other = CliRunner().invoke(app, words(tmp_path, "out", "--resume"))
    assert f"{refusal}weights; name" in str(other.exception)


@pytest.mark.slow
def test_a_world_that_hangs_is_cut_off_and_marked_alone(tmp_path):
    write_suite(tmp_path, hang_in=27)
    arguments = words(tmp_path, "out", "--num-envs", "4", "--task", "fake/near", "--patience", "4")
    invoke(*arguments)
    rows = episodes(tmp_path / "out")
    marked = {"error": "cut off: the simulator was silent for 8 s", "success": False, "steps": 0}
    assert [{name: row[name] for name in marked} for row in rows if row["init_id"] == 27] == [marked]
    assert [row["success"] for row in rows if row["init_id"] != 27] == [
        i < 37 for i in range(20, 40) if i != 27
    ]
    assert {row["error"] for row in rows if row["init_id"] != 27} == {""}


def test_a_policy_that_hangs_is_cut_off_and_costs_few_episodes(tmp_path):
    skill = write_skill(tmp_path, "hangs", behaviour="hang", good_calls=50)  # of 66
    arguments = words(tmp_path, "out", "--num-envs", "5", "--workers", "1", "--patience", "5", skill=skill)
    invoke(*arguments)
    rows = episodes(tmp_path / "out")
    assert len(rows) == 40
    lost = [row for row in rows if row["error"]]
    assert {row["error"] for row in lost} <= {"cut off: the policy was silent for 5 s"}
    assert len(lost) < 5  # those that ran beside the first one lost had a second try
    assert [row["success"] for row in rows if not row["error"]] == [
        row["init_id"] < 37 for row in rows if not row["error"]
    ]
    engine = json.loads((tmp_path / "out" / "result.json").read_text())["engine"]
    assert engine["policy_loads"] > 1


def test_a_policy_that_fails_says_so_in_its_rows(tmp_path):
    skill = write_skill(tmp_path, "fails", behaviour="raise")
    result = CliRunner().invoke(app, words(tmp_path, "out", "--task", "fake/near", skill=skill))
    assert result.exit_code == 1
    assert all("told to fail" in row["error"] for row in episodes(tmp_path / "out"))
    assert "episodes without a result" in result.output


def test_an_unknown_task_names_those_that_there_are(tmp_path):
    result = CliRunner().invoke(app, words(tmp_path, "out", "--task", "fake/nowhere"))
    assert "points has no task fake/nowhere; it has fake/near, fake/far" in str(result.exception)


def test_deviations_and_delays_are_said_in_words_and_a_chunk_must_outlast_them(tmp_path):
    few = ("--task", "fake/far", "--n-episodes", "3", "--picture-delay", "1", "--answer-delay")
    output = invoke(*words(tmp_path, "out", *few, "1"))
    assert "differs from the protocol: 1 of the suite's 2 tasks" in output
    assert "differs from the protocol: 3 episodes a task in place of 20" in output
    assert "chunks executed 1 frames of 4 steps after their observation" in output
    assert "pictures 1 frames of 4 steps older than proprioception" in output
    config = json.loads((tmp_path / "out" / "result.json").read_text())["eval_config"]
    assert (config["answer_delay"], config["picture_delay"]) == (1, 1)
    result = CliRunner().invoke(app, words(tmp_path, "never", *few, "4"))
    assert "give at most --answer-delay 3" in str(result.exception)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (1, 0), (5, 1), (3, 9), (10, 10), (0, 12)])
def test_the_exact_test_is_the_binomial_one(a, b):
    from scipy.stats import binomtest  # which takes two seconds, and each worker collects every module

    wanted = binomtest(a, a + b, 0.5).pvalue if a + b else 1.0
    assert exact_mcnemar(a, b) == pytest.approx(wanted)


def test_compare_pairs_episodes(tmp_path, whole):
    worse = write_skill(tmp_path, "lazy", action=[0.0, 0.0, 0.0, 0.0])
    said = CliRunner().invoke(app, words(tmp_path, "two", skill=worse)).output
    assert "0/40" in said
    one, two = whole / "result.json", tmp_path / "two" / "result.json"
    output = invoke("compare", str(one), str(two))
    assert "40 episodes in common: 34 and 0 solved; the first is better" in output
    assert "conditions" not in output
    late = json.loads(one.read_text())
    late["eval_config"]["picture_delay"] = 1
    (tmp_path / "late.json").write_text(json.dumps(late))
    output = invoke("compare", str(one), str(tmp_path / "late.json"))
    assert "not under equal conditions: picture_delay: 0 and 1" in output
    cut = json.loads(one.read_text())
    cut["results"]["episodes"][0] |= {"success": False, "error": "cut off"}
    (tmp_path / "cut.json").write_text(json.dumps(cut))
    output = invoke("compare", str(one), str(tmp_path / "cut.json"))
    assert "not under equal conditions: episodes without a result: 0 and 1" in output
    same = compare(json.loads(one.read_text()), json.loads(one.read_text()))
    assert (same.only_first, same.only_second, same.p_value) == (0, 0, 1.0)
    invoke("report", str(one), "--out", str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text() == (whole / "report.html").read_text()


def test_other_worlds_and_other_cameras_are_other_conditions():
    row = {"task": "near", "init_id": 0, "instruction": "reach", "success": True}
    one, two = (
        {
            "results": {"episodes": [row]},
            "provenance": {"cameras": {"front": size}, "world_sha256": {"model": size}},
        }
        for size in ("96x96", "480x480")
    )
    found = compare(one, two).conditions
    assert found == (
        "cameras: {'front': '96x96'} and {'front': '480x480'}",
        "the files of robot or world",
    )
    assert compare(one, one).conditions == ()


@pytest.mark.parametrize("section", [None, "of another name", ["name"]])
def test_results_are_compared_though_one_tells_its_conditions_otherwise(tmp_path, section):
    row = {"task": "near", "init_id": 0, "instruction": "reach", "success": True}
    content = {"results": {"episodes": [row]}, "benchmark": {"name": "mt10"}}
    files = [tmp_path / name for name in ("ours.json", "theirs.json")]
    for file, said in zip(files, (content, {**content, "benchmark": section}), strict=True):
        file.write_text(json.dumps(said))
    done = CliRunner().invoke(app, ["compare", *map(str, files)])
    assert done.exception is None, done.exception
    assert "1 episodes in common: 1 and 1 solved" in done.output


def test_every_shipped_suite_is_listed():
    output = invoke("list")
    for path in (share_directory() / "suites").glob("*.yaml"):
        assert path.stem in output
