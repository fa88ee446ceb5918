"""Judging and calibrating reward models: the numbers on made-up scores, the commands on real films."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from openral_core.errors import ContractError, InstallationError, ManifestError, OutputError
from openral_reward_monitor.models.calibration import (
    FILE_NAME,
    Calibration,
    CameraCalibration,
    load_calibration,
)
from openral_reward_monitor.models.reward_model import RewardScores
from openral_rskill.registry import load_package, resolve
from openral_rskill.weights_hash import weights_sha256
from openral_training.reward_commands import app
from openral_training.reward_eval.cases import Case, Scored
from openral_training.reward_eval.fit import fit
from openral_training.reward_eval.measures import decision, measures, ranking, reliability
from openral_training.reward_eval.rollouts import rollouts
from openral_training.reward_eval.run import EvaluationPlan, calibrate, evaluate, refuse_trained, write
from openral_training.training_recipe import Recipe

pytestmark = pytest.mark.usefixtures("warm_workers")

FRAMES = 11
RECIPE = {
    "train_init_ids": {"first": 0, "count": 2},
    "heldout_init_ids": {"first": 1000, "count": 2},
    "calibration_init_ids": {"first": 1500, "count": 2},
    "tasks": {
        "drawer-open-v3": {
            "scene": "metaworld_drawer",
            "train": ["open the drawer"],
            "heldout": ["pull the drawer open"],
        },
        "drawer-close-v3": {
            "scene": "metaworld_drawer",
            "train": ["close the drawer"],
            "heldout": ["push the drawer shut"],
        },
    },
}


def film(behaviour: str, progress, done_from: int | None, *, init_id: int = 1, success=None) -> Scored:
    """Eleven frames of a film, done from a frame on (None: never), scored as given."""
    curve = np.broadcast_to(np.asarray(progress, np.float32), FRAMES)
    truth = np.arange(FRAMES) >= (FRAMES if done_from is None else done_from)
    case = Case("t", "t", behaviour, init_id, "do it", [], np.arange(FRAMES) / 10.0, truth)
    return Scored(
        case, RewardScores(curve, curve if success is None else np.full(FRAMES, success, np.float32))
    )


RISING = np.linspace(0.0, 1.0, FRAMES)


def test_a_perfect_model_gets_perfect_numbers():
    scored = [film("expert", RISING, 10), film("stuck", 0.4 * RISING, None), film("random", 0.05, None)]
    found = measures(scored, 0.8, None)
    assert (found["voc_mean"], found["voc_kendall_mean"], found["auroc"], found["auprc"]) == (1, 1, 1, 1)
    assert found["false_success"]["rate"] == found["missed_success"]["rate"] == 0
    assert found["ranking"]["all"] == {"accuracy": 1.0, "pairs": 3}
    assert found["by_behaviour"]["random"]["no"] == 1


def test_each_way_of_being_wrong_shows_in_its_own_number():
    scored = [
        film("expert", RISING[::-1], 10),
        film("wrong_task", 0.9, None),
        film("stuck", RISING * 0.9, None, success=0.9),
        film("noisy", RISING, 10),
    ]
    found = measures(scored, 0.8, None)
    assert found["voc_mean"] == 0.0
    assert found["voc_min"] == -1.0
    assert found["false_success"]["count"] == 2
    assert found["missed_success"]["count"] == 1
    assert found["false_success_in_any_frame"]["count"] == 2
    assert found["auroc"] == 0.5
    assert found["by_task"] == {
        "t": {
            "films": 4,
            "done": 2,
            "voc_mean": 0.0,
            "auroc": 0.5,
            "false_success": 2,
            "missed_success": 1,
            "abstained": 0,
        }
    }
    assert ranking(scored)["failure_success"] == {"accuracy": 0.5, "pairs": 2}


def test_called_done_is_three_frames_in_a_row_in_none_of_which_it_is_done():
    twice = np.where(np.isin(np.arange(FRAMES), (3, 4, 7, 8)), 0.9, 0.1)
    thrice = np.where(np.isin(np.arange(FRAMES), (3, 4, 5)), 0.9, 0.1)
    scored = [film("replayed", twice, None), film("replayed", thrice, None), film("constant", thrice, None)]
    # It is done, undone, and called done once more.
    again = film("undone", np.where(np.arange(FRAMES) < 8, 0.9, 0.1), None)
    done_first = replace(again, case=replace(again.case, truth=np.arange(FRAMES) < 5))
    found = measures([film("expert", RISING, 10), *scored, again, done_first], 0.8, None)
    kinds = {kind: (entry["count"], entry["of"]) for kind, entry in found["called_done_by_kind"].items()}
    assert kinds == {
        "gesture at another state": (1, 2),
        "constant or random motion": (1, 1),
        "near miss, or undone again": (2, 2),
    }


def test_a_second_look_wants_half_a_second_more_of_agreement():
    thrice = np.where(np.isin(np.arange(FRAMES), (3, 4, 5)), 0.9, 0.1)
    # The film ends while it is called done, and what stands still then would look the same.
    at_the_end = np.where(np.arange(FRAMES) > 7, 0.9, 0.1)
    scored = [
        film("expert", RISING**0.1, 9),
        film("replayed", thrice, None),
        film("parked", at_the_end, None),
    ]
    scored.append(film("noisy", thrice, 3))
    looked = measures(scored, 0.8, None)["second_look"]
    assert looked["without"]["called_done"]["count"] == 2
    assert looked["with"]["called_done"]["count"] == 1
    assert looked["without"]["never_called"]["count"] == 0
    assert looked["with"]["never_called"]["count"] == 1


def test_a_skills_attempt_is_over_when_it_is_rightly_called_done():
    high = np.where(np.arange(FRAMES) > 2, 0.9, 0.1)
    done_then_slipped = film("policy", high, None)
    slipped = replace(
        done_then_slipped, case=replace(done_then_slipped.case, truth=np.isin(np.arange(FRAMES), (3, 4, 5)))
    )
    scored = [film("expert", RISING, 10), slipped, film("policy", high, None), film("policy", 0.1, None)]
    kind = measures(scored, 0.8, None)["called_done_by_kind"]["a skill's own failures"]
    assert (kind["count"], kind["of"]) == (1, 2)


def test_films_without_a_success_are_refused_with_what_there_is():
    with pytest.raises(ContractError, match=r"2 films hold 0 successes, 2 failures, .*more --episodes"):
        measures([film("stuck", RISING, None), film("random", 0.05, None)], 0.8, None)


def test_a_curve_that_never_changes_has_no_rank_correlation():
    assert measures([film("expert", 0.5, 10), film("random", 0.1, None)], 0.8, None)["voc_mean"] == 0.0


def test_calibration_error_is_the_gap_between_said_and_true():
    sure = [film("expert", 0.95, 0), film("random", 0.95, None)]
    assert reliability(sure, None)["raw"]["ece"] == pytest.approx(0.45)
    assert reliability(sure, None)["raw"]["bins"] == [{"said": 0.95, "true": 0.5, "frames": 22}]


def overlapping(count: int, seed: int = 0) -> list[Scored]:
    """Films whose scores overlap between 0.4 and 0.6: successes end in 0.4..1, failures reach 0..0.6."""
    rng = np.random.default_rng(seed)
    good = [film("expert", np.append(RISING[:-1] * 0.3, rng.uniform(0.4, 1.0)), 10) for _ in range(count)]
    return good + [film("random", rng.uniform(0.0, 0.6), None) for _ in range(count)]


def fitted(count: int = 400, error_rate: float = 0.05) -> CameraCalibration:
    return fit(overlapping(count), error_rate=error_rate, recipe="none", init_ids=[1])


def test_the_fit_keeps_its_error_rate_on_films_it_never_saw():
    calibration = fitted()
    assert 0.4 < calibration.no_below < 0.5 < calibration.yes_from < 0.6
    fresh = overlapping(2000, seed=1)
    said = [(one.done, decision(float(one.joint[-1]), calibration, 0.5)) for one in fresh]
    wrong_yes = np.mean([answer == "yes" for done, answer in said if not done])
    wrong_no = np.mean([answer == "no" for done, answer in said if done])
    assert wrong_yes <= 0.08
    assert wrong_no <= 0.08
    assert any(answer == "abstain" for _, answer in said)
    assert (
        reliability(fresh, calibration)["calibrated"]["ece"] < reliability(fresh, calibration)["raw"]["ece"]
    )


def test_scores_that_part_cleanly_leave_nothing_to_abstain_on():
    scored = [film("expert", RISING, 10, init_id=i) for i in range(60)]
    scored += [film("random", 0.1, None, init_id=i) for i in range(60)]
    calibration = fit(scored, error_rate=0.02, recipe="none", init_ids=[1])
    assert {calibration.is_done(score, 0.8) for score in np.linspace(0, 1, 101)} == {True, False}
    assert calibration.is_done(0.5, 0.8) is False, "an expert half way is not done"
    assert 0.0 < calibration.probability(np.float32([0.0]))[0] < 0.1, (
        "nothing was seen often enough to be certain"
    )
    assert 0.9 < calibration.probability(np.float32([1.0]))[0] < 1.0


def test_too_few_films_for_the_error_rate_are_refused_with_the_number():
    with pytest.raises(ContractError, match=r"10 rollouts that succeeded and 10 .* needs 49 of each"):
        fit(overlapping(10), error_rate=0.02, recipe="none", init_ids=[1])


def test_states_of_the_calibration_belong_to_nothing_else():
    with pytest.raises(ValueError, match="calibration_init_ids: overlaps"):
        Recipe.model_validate({**RECIPE, "calibration_init_ids": {"first": 1001, "count": 2}})


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    folder = tmp_path / "mini-progress"
    shutil.copytree(resolve("mini-progress").folder, folder, ignore=shutil.ignore_patterns("eval", FILE_NAME))
    return folder


@pytest.mark.long
def test_films_of_other_noise_or_other_words_are_made_anew(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("openral_training.reward_eval.rollouts.FRAMES_PER_S", 3.0)
    monkeypatch.setattr("openral_training.reward_eval.rollouts.BEHAVIOURS", ("noisy_expert",))
    monkeypatch.setattr("openral_training.reward_eval.rollouts.scripts_for", lambda recipe, task: ())
    policy = resolve("mini-metaworld").folder
    one_task = {**RECIPE, "tasks": {"drawer-open-v3": RECIPE["tasks"]["drawer-open-v3"]}}

    def there(**changes: Any) -> int:
        """Return how many of both films are there already, before any is made."""
        counts: list[int] = []

        def stop(count: int) -> None:
            counts.append(count)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            list(
                rollouts(
                    Recipe.model_validate({**one_task, **changes}), [1000], skills=[policy], progress=stop
                )
            )
        return counts[0]

    assert len(list(rollouts(Recipe.model_validate(one_task), [1000], skills=[policy]))) == 2
    assert there() == 2
    assert there(turn_noise=0.3) == 1
    words = {**one_task["tasks"]["drawer-open-v3"], "train": ["pull the drawer"]}
    assert there(tasks={"drawer-open-v3": words}) == 1


def test_a_calibration_that_cannot_be_read_is_told_before_anything_is_filmed(skill: Path, monkeypatch):
    (skill / FILE_NAME).write_text('{"skill": "cut o')
    monkeypatch.setattr("openral_training.reward_eval.run.rollouts", lambda *a, **k: pytest.fail("filmed"))
    said = CliRunner().invoke(app, ["calibrate", "--rskill", str(skill)])
    assert isinstance(said.exception, ManifestError)
    assert str(said.exception).startswith(f"{skill / FILE_NAME}: cannot be read (")


def film_few(patch: pytest.MonkeyPatch) -> None:
    """Let two behaviours of each task be filmed, and no miss."""
    patch.setattr("openral_training.reward_eval.rollouts.BEHAVIOURS", ("expert", "stuck"))
    patch.setattr("openral_training.reward_eval.rollouts.scripts_for", lambda recipe, task: ())


@pytest.mark.timeout(900)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["few", "every"])
def test_commands_film_once_calibrate_and_judge(skill: Path, tmp_path: Path, monkeypatch, every: bool):
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("openral_training.reward_eval.rollouts.FRAMES_PER_S", 3.0)
    recipe = tmp_path / "small.yaml"
    recipe.write_text(yaml.safe_dump(RECIPE))
    common = ("--rskill", str(skill), "--recipe", str(recipe), "--episodes", "1")
    if not every:
        film_few(monkeypatch)
    with monkeypatch.context() as few:
        film_few(few)
        words = ["calibrate", *common, "--error-rate", "0.4"]
        said = CliRunner().invoke(app, [*words, "--policy", "mini-metaworld"] if every else words)
    assert said.exit_code == 0, (said.output, said.exception)
    assert "camera corner2" in said.output
    assert "successes abstained on" in said.output
    calibration = load_calibration(load_package(skill))
    assert calibration is not None
    assert calibration.cameras["corner2"].init_ids == (1500,)

    def judge() -> dict:
        done = CliRunner().invoke(app, ["eval", *common, "--out", str(tmp_path / "out.json")])
        assert done.exit_code == 0, (done.output, done.exception)
        return json.loads((tmp_path / "out.json").read_text())

    first = judge()
    films = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / "rollouts").rglob("*.npz")}
    judged = 4 + 5 + 3 + 1 if every else 2
    assert len(films) == 2 * (2 + judged), (
        "two behaviours; all four, five misses, three takes of a gesture; attempts once"
    )
    again = judge()
    assert {
        path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / "rollouts").rglob("*.npz")
    } == films
    assert first["results"]["rollouts"] == again["results"]["rollouts"]
    results = first["results"]
    assert results["calibrated"]
    scripted = {"expert", "noisy", "stuck", "random", "replayed", "constant"}
    scripted |= {"long_wander", "half_done", "undone", "parked"}
    assert set(results["by_behaviour"]) == {"wrong_task", "reversed"} | (
        scripted if every else {"expert", "stuck"}
    )
    if every:
        assert "constant or random motion" in results["called_done_by_kind"]
    rows = results["rollouts"]
    closed = next(row for row in rows if (row["task"], row["behaviour"]) == ("drawer-close-v3", "expert"))
    assert closed["truth"]
    assert closed["instruction"] == "push the drawer shut"
    assert first["eval_config"]["init_ids"] == [1000, 1000]
    html = (tmp_path / "out.html").read_text()
    assert "<svg" in html
    assert "http" not in html.replace("http://www.w3.org", "")


def test_a_skill_that_does_not_fit_is_refused_before_anything_is_filmed(skill: Path, tmp_path: Path):
    (tmp_path / "small.yaml").write_text(yaml.safe_dump({**RECIPE, "cameras": ["corner2"]}))
    common = ["eval", "--rskill", str(skill), "--recipe", str(tmp_path / "small.yaml"), "--episodes", "1"]
    done = CliRunner().invoke(
        app, [*common, "--policy", "mini-metaworld-mt10", "--out", str(tmp_path / "out.json")]
    )
    assert isinstance(done.exception, ContractError)
    assert "observation.images.camera2" in str(done.exception)
    assert "rollouts" not in done.output


def test_a_camera_that_the_scene_has_not_is_refused_before_anything_is_filmed(skill: Path, tmp_path: Path):
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(RECIPE))
    common = ["--rskill", str(skill), "--recipe", str(tmp_path / "small.yaml"), "--episodes", "1"]
    done = CliRunner().invoke(app, ["calibrate", *common, "--camera", "wrist"])
    assert "--camera wrist: the scene has no camera 'wrist'; it has corner2" in str(done.exception)


def test_a_calibration_of_other_weights_is_refused(skill: Path):
    wrong = {"schema_version": "0.1", "skill": "x", "weights_sha256": "0" * 64, "cameras": {}}
    (skill / FILE_NAME).write_text(json.dumps(wrong))
    with pytest.raises(
        ManifestError, match="made with other weights; make it again: openral reward calibrate"
    ):
        load_calibration(load_package(skill))
    (skill / FILE_NAME).write_text("{}")
    with pytest.raises(ManifestError, match=r"calibration\.json"):
        load_calibration(load_package(skill))


SEEN = {"tasks": "drawer-open-v3, reach-v3", "train_init_ids": "900-1000"}


@pytest.mark.parametrize(
    ("made_of", "refused"),
    [
        (SEEN, True),
        ({**SEEN, "tasks": "reach-v3"}, False),
        ({**SEEN, "train_init_ids": "0-9", "warm_start_made_of": json.dumps(SEEN)}, True),
    ],
    ids=["same", "other", "before a warm start"],
)
def test_states_that_the_weights_have_seen_are_no_test(skill: Path, made_of: dict[str, str], refused: bool):
    weights = skill / "model.safetensors"
    save_file(load_file(weights), weights, {"made_of": json.dumps(made_of)})
    plan = EvaluationPlan(
        load_package(skill), Recipe.model_validate(RECIPE), "none", "corner2", (1000, 1001), heard=False
    )
    if refused:
        for refusing in (refuse_trained, lambda plan: calibrate(plan, 0.4)):
            with pytest.raises(
                ContractError, match=r"trained on initial states 900 to 1000, and 1 .*\(1000 …\)"
            ):
                refusing(plan)
    else:
        refuse_trained(plan)


@pytest.mark.parametrize(
    ("cameras", "text"),
    [
        (
            {
                "corner2": fitted().model_copy(
                    update={"init_ids": (999, 1000), "tasks": tasks, "recipe": "other"}
                )
            },
            r"1 of the states .*\(1000 …\)",
        )
        for tasks in ((), ("drawer-open-v3", "reach-v3"))
    ]
    + [
        ({"wrist": fitted()}, "camera 'corner2' is not calibrated, but wrist"),
    ],
)
def test_a_calibration_that_does_not_fit_the_evaluation_is_refused(skill: Path, cameras, text: str):
    package = load_package(skill)
    content = Calibration(skill="x", weights_sha256=weights_sha256(package), cameras=cameras)
    write(skill / FILE_NAME, content)
    plan = EvaluationPlan(
        package, Recipe.model_validate(RECIPE), "none", "corner2", (1000, 1001), heard=False
    )
    with pytest.raises(ContractError, match=text):
        evaluate(plan, "")


def test_a_gpu_that_is_not_there_and_a_skill_without_a_policy_are_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    words = ["--rskill", "mini-progress", "--episodes", "1"]
    for verb in ("eval", "calibrate"):
        refused = CliRunner().invoke(app, [verb, *words, "--device", "cuda"]).exception
        assert isinstance(refused, InstallationError)
        assert str(refused).startswith("--device cuda: ")
    out = ["--out", str(tmp_path / "eval.json")]
    refused = CliRunner().invoke(app, ["eval", *words, *out, "--policy", "mini-detector"]).exception
    assert isinstance(refused, ContractError)
    assert "mini-detector is a detector" in str(refused)


def test_a_result_is_not_written_where_its_page_would_be(tmp_path: Path) -> None:
    words = ["eval", "--rskill", "mini-progress", "--episodes", "1"]
    refused = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "judged.html")]).exception
    assert isinstance(refused, OutputError)
    assert "name the eval JSON, such as judged.json" in str(refused)
    (tmp_path / "judged-0.2.html").mkdir()  # of a name without an ending no part is taken for one
    refused = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "judged-0.2")]).exception
    assert f"{tmp_path / 'judged-0.2.html'}: is a folder" in str(refused)
