"""One process that a test starts and ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from launch import LaunchDescription
from launch.actions import EmitEvent
from launch.events import matches_action
from launch.events.process import ProcessExited, ShutdownProcess

from ..asserts.text import text_of
from ..io_handler import ActiveIoHandler
from ..proc_info_handler import ActiveProcInfoHandler

if TYPE_CHECKING:
    from launch import LaunchService
    from launch.actions import ExecuteProcess


class ProcessProxy:
    """A process of a launch, as a test sees it.

    Args:
        process_action: the action that starts it.
        proc_info, proc_output: what the test is given.
        output_filter: is given an output and returns what to look at.
    """

    def __init__(
        self,
        process_action: ExecuteProcess,
        proc_info: ActiveProcInfoHandler,
        proc_output: ActiveIoHandler,
        *,
        output_filter: Callable[[str], str] | None = None,
    ) -> None:
        self._action, self._info, self._io = process_action, proc_info, proc_output
        self._filter = output_filter

    @property
    def target_process_action(self) -> ExecuteProcess:
        """The action."""
        return self._action

    def _event(self) -> Any:
        try:
            return self._info[self._action]
        except KeyError:
            return None

    def _text(self, stream: str) -> str:
        try:
            return text_of(self._io[self._action], stream, output_filter=self._filter)
        except KeyError:
            return ""

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._event() is not None and not self.terminated

    @property
    def terminated(self) -> bool:
        """Whether it has ended."""
        return isinstance(self._event(), ProcessExited)

    @property
    def exit_code(self) -> int | None:
        """How it ended; None before."""
        return self._event().returncode if self.terminated else None

    @property
    def stdout(self) -> str:
        """What it wrote to stdout so far."""
        return self._text("stdout")

    @property
    def stderr(self) -> str:
        """What it wrote to stderr so far."""
        return self._text("stderr")

    @property
    def output(self) -> str:
        """What it wrote so far: stdout, then stderr."""
        return self.stdout + self.stderr

    def wait_for_output(
        self, condition: Callable[[str], bool] | None = None, timeout: float | None = None
    ) -> bool:
        """Wait until a condition holds for the output, for at most `timeout` [s] (None: no limit).

        Without a condition the next output ends the wait.
        """
        before = len(self.output)
        holds = condition or (lambda output: len(output) > before)
        with self._io.io_event:
            return self._io.io_event.wait_for(lambda: holds(self.output), timeout)

    def wait_for_shutdown(self, timeout: float | None = None) -> bool:
        """Wait until it has ended, for at most `timeout` [s] (None: no limit); returns whether it has."""
        with self._info.proc_event:
            return self._info.proc_event.wait_for(lambda: self.terminated, timeout)


@contextmanager
def launch_process(
    launch_service: LaunchService,
    process_action: ExecuteProcess,
    proc_info: ActiveProcInfoHandler,
    proc_output: ActiveIoHandler,
    **kwargs: Any,
) -> Iterator[ProcessProxy]:
    """Start a process in a running launch for as long as the block lasts; `kwargs` go to `ProcessProxy`."""
    launch_service.include_launch_description(LaunchDescription([process_action]))
    proc_info.assertWaitForStartup(process=process_action)
    proxy = ProcessProxy(process_action, proc_info, proc_output, **kwargs)
    try:
        yield proxy
    finally:
        if not proxy.terminated:
            end = EmitEvent(event=ShutdownProcess(process_matcher=matches_action(process_action)))
            launch_service.include_launch_description(LaunchDescription([end]))
            proc_info.assertWaitForShutdown(process=process_action, timeout=30)
