"""Assertions about output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..util import resolveProcesses
from .text import Expected, ends_at, text_of

_NEARBY = 2  # lines on either side


def assertInStream(
    proc_output: Any,
    expected_output: Expected,
    process: Any,
    cmd_args: Any = None,
    *,
    output_filter: Callable[[str], str] | None = None,
    strict_proc_matching: bool = True,
    strip_ansi_escape_sequences: bool = True,
    stream: str = "stderr",
) -> None:
    """Assert that a process wrote something.

    Args:
        proc_output: the `IoHandler` that a test is given.
        expected_output: a text, a regular expression, or a list of them that follow each other.
        process, cmd_args, strict_proc_matching: which process; see `launch_testing.util.resolveProcesses`.
        output_filter: is given the output and returns what to look at.
        strip_ansi_escape_sequences: whether to leave out colours.
        stream: `stdout` or `stderr`.

    Raises:
        AssertionError: none of the processes wrote it.
        NoMatchingProcessException: no process fits, or several do.
    """
    actions = resolveProcesses(
        proc_output, process=process, cmd_args=cmd_args, strict_proc_matching=strict_proc_matching
    )
    for action in actions:
        text = text_of(proc_output[action], stream, strip_ansi_escape_sequences, output_filter)
        if ends_at(expected_output, text) is not None:
            return
    names = ", ".join(str(action.process_details["name"]) for action in actions)
    raise AssertionError(f"Did not find {expected_output!r} in the {stream} of {names}")


def assertInStdout(
    proc_output: Any, expected_output: Expected, process: Any, cmd_args: Any = None, **options: Any
) -> None:
    """As `assertInStream`, of stdout."""
    assertInStream(proc_output, expected_output, process, cmd_args, stream="stdout", **options)


def assertInStderr(
    proc_output: Any, expected_output: Expected, process: Any, cmd_args: Any = None, **options: Any
) -> None:
    """As `assertInStream`, of stderr."""
    assertInStream(proc_output, expected_output, process, cmd_args, stream="stderr", **options)


def assertDefaultStream() -> str:
    """The stream that `assertInStream` looks at by itself, the one that logs go to."""
    return "stderr"


class SequentialTextChecker:
    """Looks for texts that follow each other: each one behind the one before.

    Args:
        output: the text in which to look, as a whole or in pieces.
    """

    def __init__(self, output: str | Iterable[str]) -> None:
        self._text, self._position = "".join(output), 0

    def assertInText(self, msg: Expected) -> None:
        """Assert that something stands behind what was found last.

        Raises:
            AssertionError: it does not.
        """
        end = ends_at(msg, self._text, self._position)
        if end is None:
            nearby = self.get_nearby_lines()
            raise AssertionError(f"{msg!r} not found behind what came before; there stands:\n{nearby}")
        self._position = end

    def assertInStdout(self, msg: Expected) -> None:
        """The same."""
        self.assertInText(msg)

    def get_nearby_lines(self) -> str:
        """The line in which the search goes on, and two on either side."""
        current = self._text.count("\n", 0, self._position + 1)
        lines = self._text.rstrip("\n").split("\n")
        return "\n".join(lines[max(0, current - _NEARBY) : current + _NEARBY + 1])


@contextmanager
def assertSequentialStdout(
    proc_output: Any, process: Any, cmd_args: Any = None
) -> Iterator[SequentialTextChecker]:
    """Give what asserts that a process wrote some things to stdout in an order.

    Raises:
        NoMatchingProcessException: no process fits, or several do.
    """
    (action,) = resolveProcesses(proc_output, process=process, cmd_args=cmd_args)
    yield SequentialTextChecker(text_of(proc_output[action], "stdout"))
