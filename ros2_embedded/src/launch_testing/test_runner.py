"""Runs launches with their tests."""

from __future__ import annotations

import inspect
import sys
import threading
import unittest
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from launch import LaunchDescription, LaunchDescriptionSource, LaunchService
from launch.actions import IncludeLaunchDescription, RegisterEventHandler
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart

from .actions.ready import READY
from .asserts.text import text_of
from .io_handler import ActiveIoHandler
from .loader import TestRun, ready_actions
from .markers import is_kept_alive
from .proc_info_handler import ActiveProcInfoHandler
from .ready_to_test_action_timeout import timeout_of
from .test_result import FailResult, TestResult

_LEAVING_S = 10.0
"""[s] that tests get to notice that the launch is over."""


class LaunchTestRunner:
    """Runs test runs one after the other, in the main thread.

    Args:
        test_runs: what to run.
        launch_file_arguments: words `name:=value`.
        debug: whether the launch logs everything.
    """

    def __init__(
        self, test_runs: Iterable[TestRun], launch_file_arguments: Iterable[str] = (), debug: bool = False
    ) -> None:
        self._runs, self._debug = list(test_runs), debug
        self._words = list(launch_file_arguments)
        self._arguments = dict(_pair(word) for word in self._words)

    def generate_preamble(self) -> list[Any]:
        """Entities to visit before those of the test; subclasses have some."""
        return []

    def validate(self) -> None:
        """Look at the descriptions without launching anything.

        Raises:
            ValueError: one lets no test begin.
        """
        for run in self._runs:
            if run.skip_reason is not None:
                continue
            calls: list[bool] = []
            description, _ = run.describe(lambda calls=calls: calls.append(True))  # type: ignore[misc]
            if "ready_fn" not in _parameters(run) and not ready_actions(description):
                raise ValueError(
                    f"{run.name}: tests begin with a launch description containing a ReadyToTest action of "
                    "launch_testing.actions, and this one has none"
                )

    def run(self) -> dict[TestRun, unittest.TestResult]:
        """Run all; returns what came out of each."""
        results: dict[TestRun, unittest.TestResult] = {}
        for run in self._runs:
            if len(self._runs) > 1:
                sys.stdout.write(f"Starting test run {run}\n")
            if run.skip_reason is not None:
                results[run] = _skipped(run, run.skip_reason)
                continue
            results[run] = _Launch(run, self._arguments, self._words, self._debug).run(
                self.generate_preamble()
            )
        return results


def _skipped(run: TestRun, reason: str) -> TestResult:
    result = TestResult()
    run.skip(result, reason)
    result.finish()
    return result


class _Launch:
    """One launch with its tests: the launch runs here, the tests beside it in a thread of their own."""

    def __init__(self, run: TestRun, arguments: Mapping[str, str], words: list[str], debug: bool) -> None:
        self._run, self._arguments = run, arguments
        self._info, self._io = ActiveProcInfoHandler(), ActiveIoHandler()
        self._service = LaunchService(argv=words, noninteractive=True, debug=debug)
        self._ready, self._over = threading.Event(), threading.Event()
        self._result: unittest.TestResult | None = None

    def run(self, preamble: list[Any]) -> unittest.TestResult:
        """Launch, test, end, and test what is left."""
        description, context = self._run.describe(self._ready.set)
        self._service.context.extend_globals({READY: self._ready.set})
        inclusion = IncludeLaunchDescription(
            LaunchDescriptionSource(launch_description=description),
            launch_arguments=list(self._arguments.items()),
        )
        self._service.include_launch_description(LaunchDescription([*self._handlers(), *preamble, inclusion]))
        given = {**context, "test_args": dict(self._arguments), "launch_service": self._service}
        given |= {"proc_info": self._info, "proc_output": self._io}
        thread = threading.Thread(target=self._test, args=(given,), name="tests", daemon=True)
        thread.start()
        keep = is_kept_alive(self._run.test_description_function)
        self._service.run(shutdown_when_idle=not keep)
        came_first = self._result is None
        self._over.set()
        for waited_for in (self._info, self._io):
            waited_for.end()
        self._ready.set()
        thread.join(_LEAVING_S)
        if came_first or self._result is None:
            self._tell()
            return FailResult("the launch ended before the tests did")
        result = self._result
        if isinstance(result, TestResult):
            result.begin_anew()
            self._run.suite(True, given).run(result)
            result.finish()
        if not result.wasSuccessful():
            self._tell()
        return result

    def _test(self, given: Mapping[str, Any]) -> None:
        """What runs beside the launch."""
        timeout = timeout_of(self._run.test_description_function)
        try:
            if not self._ready.wait(timeout):
                self._result = FailResult(
                    f"nothing was ready to be tested within {timeout:g} s: no ReadyToTest was executed"
                )
            elif not self._over.is_set():
                result = TestResult()
                self._run.suite(False, given).run(result)
                self._result = result
        finally:
            self._service.shutdown()

    def _handlers(self) -> list[RegisterEventHandler]:
        """Keep what processes do."""

        def started(event: Any, context: Any) -> None:
            self._io.track(event.process_name, event.action)
            self._info.append(event)

        keep_end: Callable[..., None] = lambda event, context: self._info.append(event)  # noqa: E731
        return [
            RegisterEventHandler(OnProcessStart(on_start=started)),
            RegisterEventHandler(OnProcessExit(on_exit=keep_end)),
            RegisterEventHandler(OnProcessIO(on_stdout=self._io.append, on_stderr=self._io.append)),
        ]

    def _tell(self) -> None:
        """Print what the processes wrote, as the reason of a failure often stands there."""
        for action in self._io.processes():
            name, events = action.process_details["name"], self._io[action]
            for stream in ("stdout", "stderr"):
                text = text_of(events, stream)
                if text:
                    sys.stdout.write(f"--- {stream} of {name} ---\n{text.rstrip()}\n")
        sys.stdout.flush()


def _parameters(run: TestRun) -> Iterable[str]:
    return inspect.signature(run.test_description_function).parameters


def _pair(word: str) -> tuple[str, str]:
    """The name and the value of an argument; raise ValueError for another word."""
    name, separator, value = word.partition(":=")
    if not separator or not name:
        raise ValueError(f"malformed launch argument '{word}'; write name:=value")
    return name, value
