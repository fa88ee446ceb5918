"""Waiting for processes, in coroutines and in plain functions.

All take the launch context, the action that starts the process, what the output must satisfy where there is
one, and a time limit [s]; None waits until the process or the launch has ended for good. The functions whose
names end with `_sync` block, for tests that are no coroutines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart

from .waiting import wait_blocking, wait_until

if TYPE_CHECKING:
    from launch import LaunchContext
    from launch.actions import ExecuteLocal

Validate = Callable[[str], Any]
"""Is given all that a process has written so far."""


class _Process:
    """What is waited for with one process."""

    def __init__(self, action: ExecuteLocal) -> None:
        self._action = action

    def started(self) -> bool:
        return "pid" in (self._action.process_details or {})

    def exited(self) -> bool:
        return self._action.return_code is not None

    def satisfies(self, stream: str, validate: Validate) -> bool:
        """Whether the validation returns something true; an assertion that fails is not true."""
        try:
            return bool(validate(self._text(stream)))
        except AssertionError:
            return False

    def passes(self, stream: str, validate: Validate) -> bool:
        """Whether no assertion of the validation fails, and it does not return False."""
        try:
            return validate(self._text(stream)) is not False
        except AssertionError:
            return False

    def check(self, stream: str, validate: Validate) -> None:
        """Have a failing assertion raised."""
        text = self._text(stream)
        assert validate(text) is not False, f"the {stream} of the process is not as it should be: {text!r}"

    def _text(self, stream: str) -> str:
        return self._action.get_stdout() if stream == "stdout" else self._action.get_stderr()

    def start(self, wake: Callable[[], None]) -> list[Any]:
        return [OnProcessStart(target_action=self._action, on_start=lambda event, context: wake())]

    def exit(self, wake: Callable[[], None]) -> list[Any]:
        return [OnProcessExit(target_action=self._action, on_exit=lambda event, context: wake())]

    def output(self, wake: Callable[[], None]) -> list[Any]:
        woken: Callable[[Any], None] = lambda event: wake()  # noqa: E731
        return [OnProcessIO(target_action=self._action, on_stdout=woken, on_stderr=woken)]


async def wait_for_start(
    launch_context: LaunchContext, process_action: ExecuteLocal, timeout: float | None = None
) -> bool:
    """Wait until the process runs; returns whether it was started in time."""
    process = _Process(process_action)
    return await wait_until(launch_context, process_action, process.started, process.start, timeout)


def wait_for_start_sync(
    launch_context: LaunchContext, process_action: ExecuteLocal, timeout: float | None = None
) -> bool:
    """Do what `wait_for_start` does."""
    return bool(wait_blocking(launch_context, wait_for_start, process_action, timeout))


async def wait_for_exit(
    launch_context: LaunchContext, process_action: ExecuteLocal, timeout: float | None = None
) -> bool:
    """Wait until the process has ended; returns whether it did in time."""
    process = _Process(process_action)
    return await wait_until(launch_context, process_action, process.exited, process.exit, timeout)


def wait_for_exit_sync(
    launch_context: LaunchContext, process_action: ExecuteLocal, timeout: float | None = None
) -> bool:
    """Do what `wait_for_exit` does."""
    return bool(wait_blocking(launch_context, wait_for_exit, process_action, timeout))


async def wait_for_output(
    launch_context: LaunchContext,
    process_action: ExecuteLocal,
    validate_output: Validate,
    timeout: float | None = None,
) -> bool:
    """Wait until `validate_output` returns something true for what the process wrote to stdout.

    Args:
        launch_context: of the launch.
        process_action: that starts the process, with `cached_output=True`.
        validate_output: is called again with each output; an `AssertionError` counts as false.
        timeout: the longest time [s].

    Returns:
        Whether that came in time.
    """
    return await _wait(launch_context, process_action, "stdout", validate_output, timeout)


def wait_for_output_sync(
    launch_context: LaunchContext,
    process_action: ExecuteLocal,
    validate_output: Validate,
    timeout: float | None = None,
) -> bool:
    """Do what `wait_for_output` does."""
    return bool(wait_blocking(launch_context, wait_for_output, process_action, validate_output, timeout))


async def assert_output(
    launch_context: LaunchContext,
    process_action: ExecuteLocal,
    validate_output: Validate,
    timeout: float | None = None,
) -> None:
    """Wait until no assertion in `validate_output` fails for what the process wrote to stdout.

    Raises:
        AssertionError: one still failed in the end.
    """
    await _assert(launch_context, process_action, "stdout", validate_output, timeout)


def assert_output_sync(
    launch_context: LaunchContext,
    process_action: ExecuteLocal,
    validate_output: Validate,
    timeout: float | None = None,
) -> None:
    """Do what `assert_output` does."""
    wait_blocking(launch_context, assert_output, process_action, validate_output, timeout)


async def wait_for_stderr(
    launch_context: LaunchContext,
    process_action: ExecuteLocal,
    validate_stderr: Validate,
    timeout: float | None = None,
) -> bool:
    """Wait as `wait_for_output` does, for what the process wrote to stderr."""
    return await _wait(launch_context, process_action, "stderr", validate_stderr, timeout)


def wait_for_stderr_sync(
    launch_context: LaunchContext,
    process_action: ExecuteLocal,
    validate_stderr: Validate,
    timeout: float | None = None,
) -> bool:
    """Do what `wait_for_stderr` does."""
    return bool(wait_blocking(launch_context, wait_for_stderr, process_action, validate_stderr, timeout))


async def assert_stderr(
    launch_context: LaunchContext,
    process_action: ExecuteLocal,
    validate_stderr: Validate,
    timeout: float | None = None,
) -> None:
    """Wait as `assert_output` does, for what the process wrote to stderr."""
    await _assert(launch_context, process_action, "stderr", validate_stderr, timeout)


def assert_stderr_sync(
    launch_context: LaunchContext,
    process_action: ExecuteLocal,
    validate_stderr: Validate,
    timeout: float | None = None,
) -> None:
    """Do what `assert_stderr` does."""
    wait_blocking(launch_context, assert_stderr, process_action, validate_stderr, timeout)


async def _wait(
    context: LaunchContext, action: ExecuteLocal, stream: str, validate: Validate, timeout: float | None
) -> bool:
    process = _Process(action)
    fits = lambda: process.satisfies(stream, validate)  # noqa: E731
    return await wait_until(context, action, fits, process.output, timeout)


async def _assert(
    context: LaunchContext, action: ExecuteLocal, stream: str, validate: Validate, timeout: float | None
) -> None:
    process = _Process(action)
    fits = lambda: process.passes(stream, validate)  # noqa: E731
    if not await wait_until(context, action, fits, process.output, timeout):
        process.check(stream, validate)
