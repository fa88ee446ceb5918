"""pytest runs files of launch tests: those whose description has the mark `launch_test`, or `rostest`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

MARKS = ("launch_test", "rostest")
"""The second is that of `launch_testing_ros`; both do the same here."""


class LaunchTestFailure(Exception):
    """Tests of a launch failed."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class LaunchTestItem(pytest.Item):
    """All runs of one file of launch tests."""

    def __init__(self, *, module: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._module = module

    def runtest(self) -> None:
        """Launch and test.

        Raises:
            LaunchTestFailure: a test failed.
        """
        from launch_testing.loader import LoadTestsFromPythonModule
        from launch_testing.test_result import failures_of

        runs = LoadTestsFromPythonModule(self._module, name=self.path.name)
        runner = self._runner()(runs, self.config.getoption("--launch-args") or ())
        runner.validate()
        results = runner.run().values()
        failures = [failure for result in results for failure in failures_of(result)]
        if failures:
            raise LaunchTestFailure("\n".join(f"{name}: {told}" for name, told in failures))
        skipped = [reason for result in results for _, reason in result.skipped]
        if skipped and len(skipped) == sum(result.testsRun for result in results):
            pytest.skip("; ".join(dict.fromkeys(skipped)))

    def _runner(self) -> Any:
        from launch_testing.test_runner import LaunchTestRunner

        return LaunchTestRunner

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Print failed tests without the runner's own traceback."""
        if isinstance(excinfo.value, LaunchTestFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the tests are."""
        return self.path, 0, f"launch tests: {self.name}"


class LaunchTestModule(pytest.File):
    """A file of launch tests; it is one item."""

    module: Any = None

    def collect(self) -> Iterable[pytest.Item]:
        """Return the item."""
        yield LaunchTestItem.from_parent(self, name=self.path.name, module=self.module)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for launch arguments."""
    parser.addoption("--launch-args", nargs="*", metavar="name:=value", help="arguments of launch tests")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known."""
    for mark in MARKS:
        config.addinivalue_line(
            "markers", f"{mark}: the function describes what a file of launch tests launches"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the files of launch tests; other files are left to pytest."""
    text = module_path.read_text(encoding="utf-8", errors="replace")
    if not any(f"mark.{mark}" in text for mark in MARKS):
        return None
    found: pytest.Module | None = None
    if module_path.stem.isidentifier():
        found = pytest.Module.from_parent(parent, path=module_path)
        module: Any = found.obj
    else:  # such as talker.test.py, which pytest cannot import
        from launch_testing.loader import load_module

        module = load_module(module_path)
    described = getattr(module, "generate_test_description", None)
    if not any(mark.name in MARKS for mark in getattr(described, "pytestmark", ())):
        return found
    launched = LaunchTestModule.from_parent(parent, path=module_path)
    launched.module = module
    return launched
