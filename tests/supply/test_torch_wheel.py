"""Which torch is installed where the index of CPU builds answers, where it does not, and where a folder has one."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from torch_wheel import TORCH, Choice, choice, choose, uv_settings
from wheels_made_here import make_wheel

VERSION = TORCH.partition("==")[2]
Index = tuple[str, Callable[..., Path]]


@pytest.fixture
def python(tmp_path: Path, uv: str) -> str:
    """The interpreter of an empty environment."""
    subprocess.run([uv, "venv", "--quiet", str(tmp_path / "empty")], check=True)
    return str(tmp_path / "empty" / "bin" / "python")


def installed(uv: str, python: str, environ: dict[str, str], chosen: Choice) -> set[str]:
    """Install what was chosen; return everything that the environment then has."""
    command = [uv, "pip", "install", "--quiet", "--python", python, *chosen.words]
    subprocess.run(command, env=environ, check=True)
    command = [uv, "pip", "freeze", "--python", python]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_a_wheel_of_this_machine_is_taken_before_any_index() -> None:
    for reachable in (False, True):
        assert choose(here=True, backend="cpu", reachable=reachable) == Choice((TORCH,))


def test_the_cpu_build_is_taken_where_its_index_answers() -> None:
    assert choose(here=False, backend="cpu", reachable=True) == Choice(("--torch-backend=cpu", TORCH))
    assert choose(here=False, backend="auto", reachable=True) == Choice(("--torch-backend=auto", TORCH))


@pytest.mark.parametrize(("platform", "cuda"), [("linux", True), ("darwin", False)])
def test_the_note_says_what_the_index_costs_in_one_line(platform: str, cuda: bool) -> None:
    chosen = choose(here=False, backend="cpu", reachable=False, platform=platform)
    assert chosen.words == (TORCH,)
    assert "\n" not in chosen.note
    assert ("several GB" in chosen.note) is cuda
    assert "PIP_FIND_LINKS" in chosen.note


def test_where_only_the_package_index_answers_its_own_build_is_installed(
    index: Index, only_loopback: dict[str, str], uv: str, python: str
) -> None:
    url, add = index
    add("torch", VERSION, "cuda-of-the-index")
    add("cuda_of_the_index", "13.0")
    environ = {**only_loopback, "UV_DEFAULT_INDEX": url}
    chosen = choice(uv, python, environ)
    assert chosen.words == (TORCH,)
    assert "several GB" in chosen.note
    assert installed(uv, python, environ, chosen) == {TORCH, "cuda-of-the-index==13.0"}


@pytest.mark.parametrize(
    "told",
    [
        pytest.param("UV_FIND_LINKS", marks=pytest.mark.slow),
        pytest.param("PIP_FIND_LINKS", marks=pytest.mark.slow),
        pytest.param("PIP_CONFIG_FILE", marks=pytest.mark.slow),
        "user",
    ],
)
def test_a_folder_with_the_wheel_counts_however_it_was_named(
    told: str, index: Index, only_loopback: dict[str, str], uv: str, python: str, tmp_path: Path
) -> None:
    url, add = index
    add("torch", VERSION)
    wheels = make_wheel(tmp_path / "wheels", "torch", f"{VERSION}+cpu").parent
    environ = {**only_loopback, "PIP_INDEX_URL": url}
    if told.endswith("LINKS"):
        environ[told] = str(wheels)
    else:
        file = tmp_path / ("home/.config/pip/pip.conf" if told == "user" else "named.conf")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"[global]\nfind-links = {wheels}\n")
        environ.update({} if told == "user" else {told: str(file)})
    environ.update(uv_settings(environ))
    chosen = choice(uv, python, environ)
    assert chosen == Choice((TORCH,))
    assert installed(uv, python, environ, chosen) == {f"{TORCH}+cpu"}
    assert choice(uv, python, {**only_loopback, "UV_OFFLINE": "1"}) == Choice((TORCH,))  # it is there already


def test_a_folder_without_the_wheel_does_not_count(
    index: Index, only_loopback: dict[str, str], uv: str, python: str, tmp_path: Path
) -> None:
    url, add = index
    add("torch", VERSION)
    wheels = make_wheel(tmp_path / "wheels", "torch", "2.12.0+cpu").parent
    environ = {**only_loopback, "UV_DEFAULT_INDEX": url, "UV_FIND_LINKS": str(wheels)}
    chosen = choice(uv, python, environ)
    assert "does not answer" in chosen.note
    assert installed(uv, python, environ, chosen) == {TORCH}


def test_a_build_that_was_asked_for_comes_before_the_folder_if_it_can_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        asked.append(command[-2])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    assert choice("uv", "python", {}) == Choice((TORCH,))
    assert asked == ["--no-index"]
    assert choice("uv", "python", {"UV_TORCH_BACKEND": "cu130"}) == Choice(("--torch-backend=cu130", TORCH))
    assert asked == ["--no-index", "--no-index", "--torch-backend=cu130"]


def test_a_build_that_was_asked_for_and_cannot_be_had_leaves_the_folder(
    index: Index, only_loopback: dict[str, str], uv: str, python: str, tmp_path: Path
) -> None:
    wheels = make_wheel(tmp_path / "wheels", "torch", f"{VERSION}+cpu").parent
    environ = {**only_loopback, "UV_DEFAULT_INDEX": index[0], "UV_FIND_LINKS": str(wheels)}
    assert choice(uv, python, {**environ, "UV_TORCH_BACKEND": "cu130"}) == Choice((TORCH,))
