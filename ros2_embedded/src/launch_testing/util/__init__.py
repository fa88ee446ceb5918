"""Finding processes, and one that does nothing."""

from __future__ import annotations

from typing import Any

from launch.actions import ExecuteProcess

__all__ = ["NO_CMD_ARGS", "KeepAliveProc", "NoMatchingProcessException", "resolveProcesses"]

NO_CMD_ARGS: Any = object()
"""Stands for a process without arguments."""


class NoMatchingProcessException(Exception):
    """No process, or one too many, fits the description."""


class KeepAliveProc(ExecuteProcess):
    """A process that waits to be ended, and ends with 0; it keeps a launch from ending by itself."""

    def __init__(self) -> None:
        script = 'trap "exit 0" INT TERM; while :; do sleep 1; done'
        super().__init__(cmd=["/bin/sh", "-c", script], name="keep_alive")


def resolveProcesses(
    info_obj: Any,
    *,
    process: Any = None,
    cmd_args: Any = None,
    strict_proc_matching: bool = True,
) -> list[Any]:
    """The actions of the processes that are meant.

    Args:
        info_obj: what knows processes: a `ProcInfoHandler` or an `IoHandler`.
        process: the action that started it, a part of its name or program, or None for all.
        cmd_args: a word, or words in a row, among the arguments; `NO_CMD_ARGS` for none; None for any.
        strict_proc_matching: whether a text that fits several processes is an error.

    Raises:
        NoMatchingProcessException: no process fits, or several do.
    """
    known = list(info_obj.processes())
    if process is None or process == "":
        found = known
    elif isinstance(process, str):
        found = [action for action in known if process in _words(action)[0] or process in _name(action)]
    else:
        found = [action for action in known if action is process]
    if cmd_args is not None:
        found = [action for action in found if _has_arguments(_words(action)[1:], cmd_args)]
    if not found:
        names = ", ".join(sorted(map(_name, known))) or "none"
        raise NoMatchingProcessException(
            f"Did not find any process that fits {_told(process, cmd_args)}; there are: {names}"
        )
    if strict_proc_matching and process and len(found) > 1:
        names = ", ".join(sorted(map(_name, found)))
        raise NoMatchingProcessException(
            f"Found multiple processes that fit {_told(process, cmd_args)}: {names}; name one by its action "
            "or cmd_args, or pass strict_proc_matching=False"
        )
    return found


def _name(action: Any) -> str:
    return str((action.process_details or {}).get("name", ""))


def _words(action: Any) -> list[str]:
    return [str(word) for word in (action.process_details or {}).get("cmd", None) or [""]]


def _has_arguments(words: list[str], wanted: Any) -> bool:
    if wanted is NO_CMD_ARGS:
        return not words
    if isinstance(wanted, str):
        return wanted in words
    row = list(wanted)
    return any(words[start : start + len(row)] == row for start in range(len(words) - len(row) + 1))


def told(process: Any) -> str:
    """A process in words, for errors."""
    describe = getattr(process, "describe", None)
    return repr(process) if describe is None else str(describe())


def _told(process: Any, cmd_args: Any) -> str:
    said = "any" if process is None else told(process)
    if cmd_args is None:
        return said
    return f"{said} {'without arguments' if cmd_args is NO_CMD_ARGS else f'with arguments {cmd_args!r}'}"
