"""What becomes of the lines that processes write."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from typing import TextIO

from .config import get_logger, launch_config

_SINKS = {
    # stream -> where its lines go, for each value of the argument `output`
    "screen": {"stdout": {"screen"}, "stderr": {"screen"}},
    "log": {"stdout": {"log"}, "stderr": {"log", "screen"}},
    "both": {"both": {"log", "screen"}},
    "own_log": {"stdout": {"own_stdout"}, "stderr": {"own_stderr"}, "both": {"own_both"}},
    "full": {
        "stdout": {"own_stdout"},
        "stderr": {"own_stderr"},
        "both": {"log", "screen", "own_both"},
    },
}


def output_sinks(output: str | Mapping[str, object]) -> dict[str, set[str]]:
    """Return the sinks of `stdout` and of `stderr` for a value of `output`.

    Args:
        output: 'screen', 'log', 'both', 'own_log', 'full', or a mapping of 'stdout', 'stderr', 'both' to sets
            of 'screen', 'log', 'own_log'.

    Raises:
        ValueError: for a word that is none of these.
    """
    if isinstance(output, str):
        if output not in _SINKS:
            raise ValueError(f"output is '{output}'; expected one of {', '.join(_SINKS)} or a mapping")
        table: Mapping[str, object] = _SINKS[output]
    else:
        table = output
    sinks: dict[str, set[str]] = {}
    for stream in ("stdout", "stderr"):
        sinks[stream] = _words(table.get(stream), stream) | _words(table.get("both"), "both")
    return sinks


def _words(value: object, stream: str) -> set[str]:
    if value is None:
        return set()
    words = {value} if isinstance(value, str) else {str(word) for word in value}  # type: ignore[attr-defined]
    known = {"screen", "log", "own_log", "own_stdout", "own_stderr", "own_both"}
    if not words <= known:
        raise ValueError(f"output of {stream} is {sorted(words - known)}; expected screen, log, own_log")
    return {f"own_{stream}" if word == "own_log" else word for word in words}


class ProcessOutput:
    """Splits a process's bytes into lines and hands them to screen and files, each under the process's name.

    Args:
        name: the process's name, such as `talker-1`.
        output: see `output_sinks`.
        show: makes of a line what the screen shows.
    """

    def __init__(self, name: str, output: str | Mapping[str, object], show: Callable[[str], str]) -> None:
        self._name = name
        self._show = show
        self._sinks = output_sinks(output)
        self._rest = {"stdout": b"", "stderr": b""}
        self._files: dict[str, TextIO] = {}

    def feed(self, stream: str, data: bytes) -> None:
        """Take bytes of `stream` ('stdout' or 'stderr'); whole lines go out, the rest waits."""
        *lines, self._rest[stream] = (self._rest[stream] + data).split(b"\n")
        self._write(stream, lines)

    def close(self) -> None:
        """Let out what has no line end yet and close the files."""
        for stream, rest in self._rest.items():
            if rest:
                self._write(stream, [rest])
            self._rest[stream] = b""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _write(self, stream: str, lines: list[bytes]) -> None:
        if not lines:
            return
        texts = [line.decode("utf-8", "replace").rstrip("\r") for line in lines]
        for sink in self._sinks[stream]:
            if sink == "screen":
                sys.stdout.write("".join(self._show(text) + "\n" for text in texts))
                sys.stdout.flush()
            elif sink == "log":
                for text in texts:
                    _to_main_log(self._name, text)
            else:
                self._file(sink).write("".join(text + "\n" for text in texts))
                self._file(sink).flush()

    def _file(self, sink: str) -> TextIO:
        if sink not in self._files:
            suffix = {"own_stdout": "-stdout", "own_stderr": "-stderr", "own_both": ""}[sink]
            path = os.path.join(launch_config.log_dir, f"{self._name}{suffix}.log")
            self._files[sink] = open(path, "a", encoding="utf-8")  # noqa: SIM115, close() closes it
        return self._files[sink]


def _to_main_log(name: str, text: str) -> None:
    """Write a line of a process to launch.log only, not to the screen."""
    logger = get_logger(name)
    for handler in logging.getLogger("launch_root").handlers:
        if isinstance(handler, logging.FileHandler):
            handler.handle(logger.makeRecord(logger.name, logging.INFO, "", 0, text, (), None))
