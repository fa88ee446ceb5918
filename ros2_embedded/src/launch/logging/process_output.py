"""What becomes of the lines that processes write."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from .config import launch_config, track

LONGEST_REST = 1 << 16
"""Bytes without a line end that wait for one."""
_STREAMS = ("stdout", "stderr", "both")
_SINKS = {"screen", "log", "own_log"}
_ALIASES: dict[str, dict[str, set[str]]] = {
    "screen": {"both": {"screen"}},
    "log": {"both": {"log"}, "stderr": {"screen"}},
    "both": {"both": {"log", "screen"}},
    "own_log": {"both": {"own_log"}, "stdout": {"own_log"}, "stderr": {"own_log"}},
    "full": {"both": {"screen", "log", "own_log"}, "stdout": {"own_log"}, "stderr": {"own_log"}},
}


def output_sinks(output: str | Mapping[str, object]) -> dict[str, set[str]]:
    """Return the sinks of `stdout`, of `stderr` and of `both` for a value of `output`.

    Args:
        output: 'screen', 'log', 'both', 'own_log', 'full', or a mapping of 'stdout', 'stderr', 'both' to sets
            of 'screen', 'log', 'own_log'.

    Raises:
        ValueError: for a word that is none of these.
    """
    if isinstance(output, str):
        if output not in _ALIASES:
            raise ValueError(f"output is '{output}'; expected one of {', '.join(_ALIASES)} or a mapping")
        table: Mapping[str, object] = _ALIASES[output]
    else:
        table = output
    unknown = set(table) - set(_STREAMS)
    if unknown:
        raise ValueError(f"output names the streams {sorted(unknown)}; expected {', '.join(_STREAMS)}")
    return {stream: _words(table.get(stream), stream) for stream in _STREAMS}


def _words(value: object, stream: str) -> set[str]:
    if value is None:
        return set()
    words = {value} if isinstance(value, str) else {str(word) for word in value}  # type: ignore[attr-defined]
    if not words <= _SINKS:
        raise ValueError(f"output of {stream} is {sorted(words - _SINKS)}; expected screen, log, own_log")
    return words


def get_output_loggers(
    process_name: str, output_config: str | Mapping[str, object]
) -> tuple[logging.Logger, logging.Logger]:
    """The loggers for the lines of a process's stdout and of its stderr.

    Lines go as they are to the screen and to the process's own files (`<name>-stdout.log`,
    `<name>-stderr.log`, `<name>.log`), and with a time stamp to the main log file.

    Args:
        process_name: name of the process in the launch.
        output_config: see `output_sinks`.

    Raises:
        ValueError: for a value that `output_sinks` refuses.
    """
    sinks = output_sinks(output_config)
    plain = logging.Formatter("{message}", style="{")
    stamped = logging.Formatter("{created:.7f} {message}", style="{")
    loggers = []
    for stream in ("stdout", "stderr"):
        logger = logging.getLogger(f"{process_name}-{stream}")
        track(logger)
        logger.handlers.clear()
        wanted = sinks[stream] | sinks["both"]
        if "screen" in wanted:
            screen = launch_config.get_screen_handler()
            screen.setFormatterFor(logger, plain)
            logger.addHandler(screen)
        if "log" in wanted:
            main = launch_config.get_log_file_handler(launch_config.log_file_name)
            main.setFormatterFor(logger, stamped)
            logger.addHandler(main)
        for owner, suffix in ((stream, f"-{stream}"), ("both", "")):
            if "own_log" in sinks[owner]:
                own = launch_config.get_log_file_handler(_own_file(process_name, suffix))
                own.setFormatterFor(logger, plain)
                logger.addHandler(own)
        loggers.append(logger)
    return loggers[0], loggers[1]


def _own_file(process_name: str, suffix: str) -> str:
    """The name of a log file of a process, in whose own name there may be slashes."""
    return f"{process_name.replace('/', '-')}{suffix}.log"


class ProcessOutput:
    """Splits a process's bytes into lines and hands them to screen and files, each under the process's name.

    Args:
        name: the process's name, such as `talker-1`.
        output: see `output_sinks`.
        show: makes of a line what is logged.
    """

    def __init__(self, name: str, output: str | Mapping[str, object], show: Callable[[str], str]) -> None:
        self._name = name
        self._show = show
        self._loggers = dict(zip(("stdout", "stderr"), get_output_loggers(name, output), strict=True))
        for logger in self._loggers.values():
            logger.setLevel(logging.INFO)  # the launch's level is for its own lines
        self._rest = {"stdout": b"", "stderr": b""}

    def feed(self, stream: str, data: bytes) -> None:
        """Take bytes of `stream` ('stdout' or 'stderr'); whole lines go out, the rest waits.

        A rest that grows too long, as where a program writes its progress over and over, is a line as well.
        """
        *lines, rest = (self._rest[stream] + data).split(b"\n")
        if len(rest) > LONGEST_REST:
            lines, rest = [*lines, rest], b""
        self._rest[stream] = rest
        self._write(stream, lines)

    def close(self) -> None:
        """Let out what has no line end yet and close the process's own files."""
        for stream, rest in self._rest.items():
            if rest:
                self._write(stream, [rest])
            self._rest[stream] = b""
        for suffix in ("-stdout", "-stderr", ""):
            launch_config.close_log_file(_own_file(self._name, suffix))

    def _write(self, stream: str, lines: list[bytes]) -> None:
        for line in lines:
            text = self._show(line.decode("utf-8", "replace").rstrip("\r"))
            self._loggers[stream].info("%s", text)
