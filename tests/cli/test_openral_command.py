"""The command line: what it prints, how it exits, what it does not import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path
from typing import Any

import pytest
import typer
from example_skill import MANIFEST, write_safetensors
from openral_commands import Ran, openral_commands
from typer.testing import CliRunner

from openral_cli import app as cli
from openral_cli import doctor, plugins
from openral_core.doctor_check import Check
from openral_core.errors import OpenralError
from openral_rskill.store.store_folders import skill_folder

RUN = CliRunner()


def test_check_prints_a_row_a_gate(skill_folder: Path) -> None:
    result = RUN.invoke(cli.app, ["rskill", "check", str(skill_folder), "--scene", "metaworld_drawer"])
    assert result.exit_code == 0, result.output
    for gate in ("manifest", "embodiment", "camera", "state", "action dim", "latency", "licence", "weights"):
        assert gate in result.output


def test_check_of_a_misfit_prints_the_mend_and_fails(skill_folder: Path) -> None:
    (skill_folder / "rskill.yaml").write_text(MANIFEST.replace("control_hz: 80", "control_hz: 20"))
    result = RUN.invoke(cli.app, ["rskill", "check", str(skill_folder), "--scene", "metaworld_drawer"])
    assert result.exit_code == 1
    assert "set control_hz of the scene to 20" in result.output
    alone = RUN.invoke(cli.app, ["rskill", "check", str(skill_folder)])
    assert alone.exit_code == 0
    assert "control rate" not in alone.output


def test_list_and_show(skill_folder: Path) -> None:
    search = ["--search", str(skill_folder.parent)]
    listed = RUN.invoke(cli.app, ["rskill", "list", *search])
    assert listed.exit_code == 0
    assert "example" in listed.output
    shown = RUN.invoke(cli.app, ["rskill", "show", "example", *search])
    assert "openral/rskill-example 1.2.3" in shown.output
    (skill_folder / "rskill.yaml").write_text("name: 3")
    broken = RUN.invoke(cli.app, ["rskill", "list", *search])
    assert isinstance(broken.exception, OpenralError)
    assert "example" in broken.output


def test_names_of_skills_are_told_whole_in_a_narrow_window() -> None:
    listed = RUN.invoke(cli.app, ["rskill", "list"], env={"COLUMNS": "60"})
    assert {"mini-metaworld-mt10", "mini-metaworld-mt50"} <= set(listed.output.split())


def every_command(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every verb below a group with its path."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from every_command(command, (*path, name))
        else:
            yield (*path, name), command


@pytest.mark.slow
def test_names_of_options_are_told_whole_in_a_narrow_window() -> None:
    verbs = dict(every_command(typer.main.get_command(cli.app)))
    assert ("deploy", "sim") in verbs
    for path, command in verbs.items():
        told = RUN.invoke(cli.app, [*path, "--help"], env={"COLUMNS": "80"}).output
        words = set(told.replace(",", " ").split())
        names = {name for option in command.params for name in option.opts if name.startswith("-")}
        assert names <= words, f"{' '.join(path)}: {names - words}"
        assert "completion" not in told


NO_GRAPH = (
    *(
        (words, "ROS_DOMAIN_ID", "abc")
        for words in (["prompt", "stop"], ["mission", "show"], ["mcp"], ["console"])
    ),
    (["fleet", "list"], "ROS_DOMAIN_ID", "999"),
    (["fleet", "list"], "ROS_AUTOMATIC_DISCOVERY_RANGE", "NONSENSE"),
)


@pytest.mark.parametrize(("words", "name", "value"), NO_GRAPH)
def test_an_environment_without_a_graph_is_one_line(
    ran: Told, words: list[str], name: str, value: str
) -> None:
    result = ran(words, name)
    assert result.code == 1
    (line,) = result.err.splitlines()
    assert line.startswith(f"error: {name}={value!r} is ")
    assert "unset it" in line


def test_scenes_are_listed_by_the_command_that_they_are_for() -> None:
    told = RUN.invoke(cli.app, ["scene", "list"], env={"COLUMNS": "80"})
    assert told.exit_code == 0, told.output
    simulated, _, rest = told.output.partition("openral deploy robot")
    real, _, judged = rest.partition("openral benchmark scene")
    assert "open the drawer, then close it" in simulated
    assert "fr3_tabletop" in real
    assert "metaworld_mt10_fast" in judged


def test_version_and_the_short_form_of_help() -> None:
    assert RUN.invoke(cli.app, ["--version"]).output == f"openral {version('openral')}\n"
    assert RUN.invoke(cli.app, ["deploy", "sim", "-h"]).exit_code == 0


def test_an_unknown_verb_is_told_the_nearest() -> None:
    for typed, meant in ((["deply", "sim"], "'deploy'"), (["deploy", "simm"], "'sim'")):
        result = RUN.invoke(cli.app, typed)
        assert result.exit_code == 2
        assert f"Did you mean {meant}?" in result.output


ERRORS = (
    (["rskill", "show", "no-such"], "error: skill 'no-such' was not found; there is: "),
    (
        ["rskill", "show", "mini-metawrld"],
        "error: skill 'mini-metawrld' was not found; did you mean 'mini-metaworld'? There is: ",
    ),
    (
        ["deploy", "sim", "--config", "metaworld_draw"],
        "error: scene 'metaworld_draw' was not found; did you mean 'metaworld_drawer'? Give a path or one of: ",
    ),
    (
        ["sidecar", "list"],
        "error: /proc/nope/run: No such file or directory; set OPENRAL_CACHE_HOME to a folder",
    ),
)


@pytest.mark.parametrize(("command", "said"), ERRORS)
def test_errors_are_one_message_and_exit_code_one(ran: Told, command: list[str], said: str) -> None:
    result = ran(command)
    assert result.code == 1
    assert result.err.startswith(said)
    assert "Traceback" not in result.err


SIM = ["deploy", "sim", "--config", "metaworld_drawer"]
REFUSED = (
    ([*SIM, "--no-such"], "No such option: --no-such"),
    ([*SIM, "--rtf", "nan"], "Invalid value for '--rtf'"),
    ([*SIM, "--mission", ""], "it is empty; leave the option out"),
    ([*SIM, "--disturbance", "quake"], "error: there is no disturbance 'quake'; there are"),
    ([*SIM, "--record", "sometimes"], "error: record: 'sometimes' is no strategy; use one of"),
    ([*SIM, "--device", "banana"], "error: device 'banana' is not known; write cpu, cuda or"),
    ([*SIM, "--namespace", "2arm"], "error: namespace '2arm': write words of letters"),
    (["fleet", "stop", "2arm"], "error: namespace '2arm': write words of letters"),
    (["robot", "check", "--address", ""], "error: --address is empty; write the arm's address"),
    (["robot", "check", "--address", "not one"], "error: --address 'not one': is no host name"),
    (["sidecar", "stop"], "error: which server? give a port"),
    (["mcp", "--port", "1"], "error: --port needs --http"),
    (["console", "--key", "key.pem"], "error: --certificate and --key belong together"),
    (["data", "split", ".", "--episodes", "3-1", "--out", "x"], "error: episodes: '3-1' runs backwards"),
)


@pytest.mark.parametrize(("command", "said"), REFUSED)
def test_words_that_cannot_be_taken_are_one_message_and_exit_code_two(
    ran: Told, command: list[str], said: str
) -> None:
    result = ran(command)
    assert (result.code, result.out.strip()) == (2, "")
    assert said in result.err
    assert "Traceback" not in result.err


Told = Callable[..., Ran]


@pytest.fixture(scope="module")
def ran() -> Told:
    """What became of each command above, without a cache that it could use."""
    alone = [command for command, _ in (*ERRORS, *REFUSED)]
    with_variable = [(words, {name: value}) for words, name, value in NO_GRAPH]
    done = openral_commands(*alone, *with_variable, OPENRAL_CACHE_HOME="/proc/nope", COLUMNS="200")
    names = [*((*words, "") for words in alone), *((*words, name) for words, name, _ in NO_GRAPH)]
    told = dict(zip(names, done, strict=True))
    return lambda words, variable="": told[(*words, variable)]


def test_the_help_begins_with_what_a_newcomer_runs_and_names_every_verb_once() -> None:
    said = RUN.invoke(cli.app, ["--help"], env={"COLUMNS": "200"}).output
    places = [said.index(words) for words in ("Start here", "demo", "Talk to what runs", "prompt ", "train ")]
    assert places == sorted(places)
    verbs = {entry.name for entry in entry_points(group=plugins.GROUP)} | {"doctor"}
    assert verbs == {name for names in plugins.PANELS.values() for name in names}


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['openral', '--help']\n"
        "from openral_cli.app import app\n"
        "try:\n    app()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'torch', 'mujoco', 'metaworld', 'rclpy', 'cv2', 'numpy', 'pydantic'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    for verb in ("doctor", "rskill"):
        assert verb in result.stdout


toy = typer.Typer(help="A toy group.")


@toy.command()
def sim() -> None:
    """Say so."""
    typer.echo("sim was run")


@toy.command()
def other() -> None:
    """Say something else."""


def hello(name: str) -> None:
    """Greet."""
    typer.echo(f"hello {name}")


def test_plugins_add_groups_and_verbs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "built_for_another_numpy.py").write_text("raise ValueError('numpy.dtype size changed')")
    monkeypatch.syspath_prepend(tmp_path)
    found = [
        EntryPoint("toy", f"{__name__}:toy", plugins.GROUP),
        EntryPoint("hello", f"{__name__}:hello", plugins.GROUP),
        EntryPoint("broken", "no_such_module_anywhere:app", plugins.GROUP),
        EntryPoint("old", "built_for_another_numpy:app", plugins.GROUP),
        EntryPoint("doctor", f"{__name__}:hello", plugins.GROUP),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: found)
    help_ = RUN.invoke(cli.app, ["--help"])
    assert "A toy group." in help_.output
    assert "Greet." in help_.output
    assert help_.output.index(plugins.OTHERS) < help_.output.index("Greet.")
    assert "`openral broken` (no_such_module_anywhere:app) cannot be loaded" in caplog.text
    assert "(built_for_another_numpy:app) cannot be loaded: ValueError: numpy.dtype size" in caplog.text
    assert RUN.invoke(cli.app, ["toy", "sim"]).output == "sim was run\n"
    assert RUN.invoke(cli.app, ["hello", "arm"]).output == "hello arm\n"
    assert RUN.invoke(cli.app, ["broken"]).exit_code == 2
    assert "hello" not in RUN.invoke(cli.app, ["doctor", "--help"]).output


@pytest.mark.parametrize("words", ["doctor", pytest.param("benchmark report run", marks=pytest.mark.slow)])
def test_a_command_in_a_folder_that_is_gone_says_so(tmp_path: Path, words: str) -> None:
    code = "import os, sys; os.rmdir(os.getcwd()); from openral_cli.app import main; main()"
    (tmp_path / "gone").mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", code, *words.split()],
        cwd=tmp_path / "gone",
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "the folder that it was called in is gone" in ended.stdout + ended.stderr
    assert "cd to one that is there" in ended.stdout + ended.stderr


def test_doctor_fails_with_the_command_that_fixes(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        Check("python", True, "3.11.7"),
        Check("rendering", False, "none", "sudo apt-get install -y libegl1"),
    ]
    monkeypatch.setattr(doctor, "examine", lambda: rows)
    plain = RUN.invoke(cli.app, ["doctor"])
    assert plain.exit_code == 1
    assert "sudo apt-get install -y libegl1" in plain.output
    as_json = RUN.invoke(cli.app, ["doctor", "--json"])
    assert as_json.exit_code == 1
    assert json.loads(as_json.output)[1]["fix"] == "sudo apt-get install -y libegl1"
    monkeypatch.setattr(doctor, "examine", lambda: rows[:1])
    assert RUN.invoke(cli.app, ["doctor"]).exit_code == 0


def test_doctor_names_a_skill_whose_lock_is_damaged_and_takes_weights_in_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(doctor, "BUILT_IN", {})  # rendering takes seconds
    lock = skill_folder("OpenRAL/rskill-smolvla-metaworld") / "rskill.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("{}")
    shards = skill_folder("maker/rskill-sharded") / "checkpoint"
    shards.mkdir(parents=True)
    for number in (1, 2):
        write_safetensors(shards / f"model-0000{number}-of-00002.safetensors")
    (shards.parent / "rskill.yaml").write_text(MANIFEST.replace("model.safetensors", "checkpoint"))
    checks = {check.name: check for check in doctor.examine()}
    assert checks["skill maker--rskill-sharded"].ok
    assert "rskill.lock:1: skill: is missing" in checks["skill smolvla-metaworld"].found
    assert checks["skill mini-metaworld"].ok


def test_doctor_examines_this_machine() -> None:
    checks = {check.name: check for check in doctor.examine()}
    assert checks["python"].ok
    assert checks["loopback"].ok
    assert all(bool(check.fix) is not check.ok for check in checks.values())


def run_main(code: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"from openral_cli import app as cli\n{code}\ncli.main()", *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=150,
    )


@pytest.mark.slow
def test_letters_that_a_terminal_has_not_are_written_otherwise() -> None:
    done = run_main("", "benchmark", "list", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "\\u2013" in done.stdout


def test_the_number_of_a_line_is_no_emoji() -> None:
    code = "from openral_core.errors import ManifestError\ndef fail(): raise ManifestError('scene.yaml:100: no robot')"
    assert run_main(f"{code}\ncli.app = fail").stderr == "error: scene.yaml:100: no robot\n"


def test_a_path_that_is_no_utf_8_is_told_in_one_line() -> None:
    done = run_main(r"cli.app = lambda: '/data/m\udcfcll'.encode()")
    assert done.returncode == 1
    assert done.stderr == r"error: /data/m\udcfcll: is no text in UTF-8; rename the file or the folder" + "\n"
