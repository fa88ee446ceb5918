"""Follows a running deployment, and prints the reasoner's decisions and the nodes' warnings and errors."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from openral_cli.deploy.full_disk import DiskWatch
from openral_core.cli.printable import printable
from openral_core.process.announcements import is_announcement
from openral_core.process.launched_deployment import LAUNCH_LOG, is_trouble, running

if TYPE_CHECKING:
    from openral_core.mission_record import RecordedStep

POLL_S = 0.1
SIGNALLED = 128
"""Exit code of a process that a signal ended, minus the signal's number, as in shells."""
WALL_S = 1e8
"""[s] least time of a wall clock, which a real arm has; a simulated world's clock begins at 0."""


def follow(
    console: Console, file: str, arguments: Mapping[str, str], folder: Path, verbose: bool
) -> tuple[int, int]:
    """Run a deployment to its end, and print its steps, warnings and errors.

    Args:
        console: for the output.
        file: name of the launch file.
        arguments: of the launch file.
        folder: of the run.
        verbose: whether every line of every node is printed.

    Returns:
        The number of the signal that ended it, SIGINT (Ctrl-C) or SIGTERM (from systemd or docker), or 0; and the
        launch's exit code.
    """

    def on_line(line: str) -> None:
        # A process that gets Ctrl-C while Python is still starting prints a traceback, which is no fault.
        trouble = is_trouble(line) and not (ended_by and "Traceback" in line)
        if verbose or trouble or is_announcement(line):
            style = "yellow" if trouble and not verbose else ""
            console.print(printable(line), style=style, markup=False, soft_wrap=True)

    ended_by = 0
    waiting = "starting bridge, policy, reward monitor and reasoner (loading torch takes some seconds)"
    with (
        _interrupted_by_sigterm() as came,
        console.status(waiting) as status,
        running(file, arguments, folder / LAUNCH_LOG, on_line) as deployment,
    ):
        steps, disk = _ShownSteps(console, status, folder), DiskWatch(folder)
        try:
            while deployment.wait(POLL_S) is None:
                steps.show_new()
                if full := disk.look():
                    console.print(full, style="red", markup=False, soft_wrap=True)
        except KeyboardInterrupt:
            ended_by = came[0] if came else signal.SIGINT
            status.update("stopping")
        code = deployment.close()
        steps.show_new()
    if disk.was_full:
        what = "its disk was full: what is told of the run below may be of a mission before the last one"
        console.print(f"{folder}: {what}", style="red", markup=False, soft_wrap=True)
    return ended_by, code


@contextlib.contextmanager
def _interrupted_by_sigterm() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt at the first SIGTERM, and ignore later ones; yield a list that gets each one's number."""
    came: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) == 1:
            raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, handle)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, former)


class _ShownSteps:
    """Shows the reasoner's steps as they come, readings in the status line."""

    def __init__(self, console: Console, status: Status, folder: Path) -> None:
        from openral_core.mission_record import StepsFile

        self._console, self._status = console, status
        self._file = StepsFile(folder)
        self._begin_s: float | None = None

    def show_new(self) -> None:
        """Show the steps that were added since the last call."""
        for step in self._file.new():
            self._show(step)

    def _show(self, step: RecordedStep) -> None:
        from openral_core.mission_record import KIND_WIDTH

        if self._begin_s is None:
            self._begin_s = step.stamp_s if step.stamp_s > WALL_S else 0.0
        stamp = f"{step.stamp_s - self._begin_s:6.1f} s"
        if step.kind == "reading":
            self._status.update(escape(f"{stamp}  {step.text}: {step.reason}"))
        elif step.kind != "verdict":  # the step after a verdict repeats its reason
            words = f"{step.kind:<{KIND_WIDTH}}[/bold] {escape(step.reason)}"
            self._console.print(f"[dim]{stamp}[/dim]  [bold]{words}", soft_wrap=True)
        if step.kind == "mission":
            self._status.update('waiting for `openral prompt "…"`; Ctrl-C ends the deployment')
