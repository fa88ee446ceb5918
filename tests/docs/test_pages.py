"""Run every command of the README and of docs/, page by page, as a reader would type them.

A fenced block `bash` is run to its end and must exit 0. `bash background` is started and left running until
the page ends, as in a second terminal. `bash long` takes minutes or hours: its words are checked against the
command line's own parser. `make demo` and `make test` are left to themselves.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "ros2_embedded" / "README.md"]
TYPED_ELSEWHERE = {"bring-your-checkpoint.md"}
"""Pages that need the gigabytes of a sidecar: `make sidecars` types them."""
COMMAND_S, PAGE_S = 600, 1800
"""[s] How long one command and a whole page may take, on a machine that has other things to do, too."""
SHELL = {"|", "||", "&&", ">", ";"}
FENCE = re.compile(r"^```bash ?(background|long|)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    how: str
    text: str

    def commands(self) -> list[str]:
        """Return its lines without comments; a line that ends in a backslash goes on."""
        joined = self.text.replace("\\\n", " ")
        return [
            line.strip() for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")
        ]


def blocks(page: Path) -> list[Block]:
    return [Block(how, text) for how, text in FENCE.findall(page.read_text())]


def environment(tmp_path: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    domain = os.environ["ROS_DOMAIN_ID"]
    return {
        **os.environ,
        "PATH": path,
        "ROS_DOMAIN_ID": domain,
        "ROS_LOG_DIR": str(tmp_path),
        "OMP_NUM_THREADS": "1",
    }


def run(command: str, env: dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=env,
        text=True,
        capture_output=True,
        timeout=COMMAND_S,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def answer_to_interrupts() -> None:
    """Undo what a shell does to the programs that it starts in the background, this test perhaps among them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(block: Block, env: dict[str, str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        ["bash", "-c", "exec " + " && ".join(block.commands())],
        cwd=ROOT,
        env=env,
        text=True,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=answer_to_interrupts,
    )
    time.sleep(15)
    assert process.poll() is None, f"ended at once: {block.text}"
    return process


def stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise


@cache
def openral_command() -> Any:
    """Return the command as it runs; to make it takes longer than to read a line."""
    import typer

    from openral_cli.app import app

    return typer.main.get_command(app)


def parses(command: str) -> None:
    """Check the words of an `openral` command against its own parser, without running it.

    What a shell does after it, from `|`, `||`, `&&`, `>` or `;` on, is not looked at.
    """
    name, *words = itertools.takewhile(lambda word: word not in SHELL, shlex.split(command))
    if name == "torchrun":  # which starts it several times
        name, *words = words[words.index("--no-python") + 1 :]
    assert name == "openral", f"only openral commands can be long: {command}"
    verb = openral_command()
    context = verb.make_context(name, ["--help"], resilient_parsing=True)
    while hasattr(verb, "get_command"):
        name, *words = words
        verb = verb.get_command(context, name)
        assert verb is not None, f"{command}: there is no verb {name}"
    verb.make_context(name, words)


@pytest.mark.timeout(PAGE_S)
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in TYPED_ELSEWHERE],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_command_of_the_page_works(page: Path, tmp_path: Path) -> None:
    env, running = environment(tmp_path), []
    try:
        for block in blocks(page):
            if block.how == "background":
                running.append(start(block, env))
                continue
            for command in block.commands():
                if block.how == "long":
                    parses(command)
                elif not command.startswith("make "):
                    run(command, env)
    finally:
        for process in reversed(running):
            stop(process)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_into_the_repository_exists(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(
    "tool",
    [
        "readme_tables",
        "reliability_table",
        "stop_conditions_table",
        "planner_table",
        "rl_curves",
        "dagger_table",
        "heldout_distance",
        "missions_table",
        "delays_table",
    ],
)
def test_tables_and_curves_are_those_of_the_results(tool: str) -> None:
    done = subprocess.run(
        [sys.executable, f"tools/pages/{tool}.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
