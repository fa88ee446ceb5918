"""`openral sim run` as a user types it, with the skills that openral ships, and the results that lie beside them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import av
import pytest
from typer.testing import CliRunner

from openral_cli.app import app

OPENRAL = str(Path(sys.executable).parent / "openral")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written lies in the folder in which a command runs."""
    monkeypatch.chdir(tmp_path)


def openral(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [OPENRAL, *words], cwd=cwd, capture_output=True, text=True, timeout=200, check=False
    )


def test_sim_run_solves_a_task_and_films_it(tmp_path: Path) -> None:
    words = (
        "--config",
        "metaworld_drawer",
        "--task",
        "drawer-close-v3",
        "--init-id",
        "1040",
        "--n-episodes",
        "2",
    )
    done = CliRunner().invoke(app, ["sim", "run", *words, "--save-dir", "films"])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "2 of 2 succeeded (95 % interval 0.34 to 1.00)" in " ".join(done.output.split())
    films = sorted((tmp_path / "films").glob("*.mp4"))
    assert [film.name for film in films] == ["episode_000.mp4", "episode_001.mp4"]
    with av.open(str(films[0])) as film:
        assert sum(1 for _ in film.decode(video=0)) > 5


def test_sim_run_of_hopeless_words_says_so(tmp_path: Path) -> None:
    words = (
        "--instruction",
        "close the drawer",
        "--task",
        "drawer-open-v3",
        "--max-steps",
        "40",
        "--no-save-video",
    )
    done = CliRunner().invoke(app, ["sim", "run", *words])
    assert done.exit_code == 1
    assert "0 of 1 succeeded" in done.output
    assert not list(tmp_path.iterdir())


def test_an_unevaluated_task_is_refused_unless_allowed_and_then_recorded(tmp_path: Path) -> None:
    import yaml

    from openral_rskill.registry import resolve

    shutil.copytree(resolve("mini-metaworld").folder, tmp_path / "skill")
    file = tmp_path / "skill" / "rskill.yaml"
    manifest = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump({**manifest, "evaluated_tasks": ["metaworld/drawer-close-v3"]}))
    words = ("--rskill", "skill", "--task", "drawer-open-v3", "--max-steps", "8", "--no-save-video")
    refused = CliRunner().invoke(app, ["sim", "run", *words]).exception
    assert "evaluated tasks: metaworld/drawer-open-v3, needed metaworld/drawer-close-v3" in str(refused)
    CliRunner().invoke(app, ["sim", "run", *words, "--allow-unevaluated", "--save-dir", "out"])
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["unevaluated_task"] is True
    assert result["run"]["allow_unevaluated"] is True
    assert len(result["episodes"]) == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        pytest.param(("--rskill", "mini-progress"), "mini-progress", marks=pytest.mark.slow),
        pytest.param(
            ("--rskill", "nothing"),
            "mini-metaworld, mini-metaworld-mt10, mini-metaworld-mt50, mini-metaworld-published",
            marks=pytest.mark.slow,
        ),
        pytest.param(("--config", "moon"), "metaworld_drawer", marks=pytest.mark.slow),
        (("--task", "fly-v3"), "has no example for fly-v3; say what to do with --instruction"),
    ],
)
def test_sim_run_refuses_in_one_line(words: tuple[str, ...], text: str, tmp_path: Path) -> None:
    done = openral("sim", "run", *words, "--no-save-video", cwd=tmp_path)
    assert done.returncode == 1
    assert text in " ".join((done.stdout + done.stderr).split())
    assert "Traceback" not in done.stdout + done.stderr


def test_shipped_results_belong_to_the_shipped_weights() -> None:
    from openral_rskill.registry import resolve
    from openral_rskill.result_provenance import provenance

    ours = sorted(path.parent.name for path in (Path(__file__).parents[2] / "rskills").glob("mini-*/eval"))
    assert "mini-metaworld" in ours
    for package in map(resolve, ours):
        results = [json.loads(path.read_text()) for path in (package.folder / "eval").glob("*.json")]
        judged = {result["provenance"]["weights_sha256"] for result in results}
        assert judged == {provenance(package, "")["weights_sha256"]}, package.manifest.name


def test_a_scene_says_where_its_episodes_begin_and_how_long_they_are() -> None:
    from openral_benchmark.single_run import episode_steps, first_state
    from openral_core.scene import load_scene

    benchmark, deployment = load_scene("metaworld_mini"), load_scene("metaworld_drawer")
    assert (first_state(benchmark), episode_steps(benchmark)) == (1000, 300)
    assert (first_state(deployment), episode_steps(deployment)) == (1000, 500)
