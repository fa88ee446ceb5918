"""Errors of launch tests that programs of others look for."""

from __future__ import annotations

import unittest
from types import ModuleType
from typing import Any

import pytest

import launch_testing
from launch import LaunchDescription
from launch.events.process import ProcessStarted
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import SequentialTextChecker
from launch_testing.junitxml import unittestResultsToXml
from launch_testing.loader import LoadTestsFromPythonModule
from launch_testing.test_result import FailResult, TestResult
from launch_testing.test_runner import LaunchTestRunner
from launch_testing.util import NoMatchingProcessException, resolveProcesses


def validate(function: Any) -> None:
    module = ModuleType("described")
    vars(module)["generate_test_description"] = function
    LaunchTestRunner(LoadTestsFromPythonModule(module)).validate()


def test_descriptions_that_cannot_be_called_are_told() -> None:
    def misspelled(redy_fn: Any) -> LaunchDescription:
        return LaunchDescription([ReadyToTest()])

    @launch_testing.parametrize("speed", [1, 2])
    def without() -> LaunchDescription:
        return LaunchDescription([ReadyToTest()])

    @launch_testing.parametrize("speed", [1, 2])
    def good(speed: int, more: int = 0, **others: Any) -> LaunchDescription:
        return LaunchDescription([ReadyToTest()])

    with pytest.raises(TypeError, match="unexpected extra argument 'redy_fn'"):
        validate(misspelled)
    with pytest.raises(TypeError, match=r"Could not find an argument .*'speed'"):
        validate(without)
    with pytest.raises(ValueError, match="containing a ReadyToTest action"):
        validate(lambda: LaunchDescription([]))
    validate(good)


def test_processes_that_do_not_fit_are_told() -> None:
    class Action:
        def __init__(self, name: str) -> None:
            self.process_details = {"name": name, "cmd": ["python", "-c"]}

    info = launch_testing.ProcInfoHandler()
    for pid, name in enumerate(("python-1", "python-2")):
        event = ProcessStarted(
            action=Action(name), name=name, cmd=["python", "-c"], cwd=None, env=None, pid=pid
        )
        info.append(event)
    with pytest.raises(NoMatchingProcessException, match=r"Found multiple processes .*python-1, python-2"):
        resolveProcesses(info, process="python")
    with pytest.raises(NoMatchingProcessException, match=r"Did not find any process .*'ls'.*python-1"):
        resolveProcesses(info, process="ls")
    with pytest.raises(NoMatchingProcessException, match=r"Did not find any process .*Action object"):
        resolveProcesses(info, process=Action("other"))
    for handler in (info, launch_testing.IoHandler()):
        with pytest.raises(KeyError, match="Action object"):
            handler[Action("other")]


@pytest.mark.parametrize(
    ("found", "nearby"),
    [
        ([], "one 1\none 2\ntwo"),
        (["on"], "one 1\none 2\ntwo"),
        (["one 1"], "one 1\none 2\ntwo\nthree"),
        (["two"], "one 2\ntwo\nthree\nfour"),
        (["thr"], "one 2\ntwo\nthree\nfour"),
        (["fou"], "two\nthree\nfour"),
        (["four"], "two\nthree\nfour"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_lines_nearby_are_told(found: list[str], nearby: str, whole: bool) -> None:
    chunks = ["one 1\n", "one 2\ntwo\n", "three\nfour"]
    checker = SequentialTextChecker("".join(chunks) if whole else chunks)
    for text in found:
        checker.assertInStdout(text)
    assert checker.get_nearby_lines() == nearby
    with pytest.raises(AssertionError) as told:
        checker.assertInStdout("five")
    assert nearby in str(told.value)


def test_results_tell_errors_from_failures() -> None:
    class Case(unittest.TestCase):
        def test_error(self) -> None:
            raise RuntimeError("broken")

        def test_failure(self) -> None:
            self.fail("wrong")

    result = TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    root = unittestResultsToXml(test_results={"one": result, "two": FailResult("never began")}).getroot()
    assert [root[0].get(name) for name in ("tests", "errors", "failures")] == ["2", "1", "1"]
    assert [root[1].get(name) for name in ("tests", "errors", "failures")] == ["1", "0", "1"]
    assert [root.get(name) for name in ("tests", "errors", "failures")] == ["3", "1", "2"]
    assert [case[0].tag for case in root[0]] == ["error", "failure"]
    assert [case[0].get("message") for case in root[1]] == ["never began"]


def test_skipping_is_left_to_the_runner() -> None:
    @unittest.skip("not now")
    def skipped() -> LaunchDescription:
        raise AssertionError

    validate(skipped)
