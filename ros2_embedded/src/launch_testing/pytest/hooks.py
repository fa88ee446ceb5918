"""pytest runs files of launch tests: those whose description is marked with `pytest.mark.launch_test`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

MARK = "launch_test"


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
        failures = [failure for result in runner.run().values() for failure in failures_of(result)]
        if failures:
            raise LaunchTestFailure("\n".join(f"{name}: {told}" for name, told in failures))

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
    """Make the mark known."""
    config.addinivalue_line("markers", f"{MARK}: the function describes what a file of launch tests launches")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the files of launch tests; other files are left to pytest."""
    if f"mark.{MARK}" not in module_path.read_text(encoding="utf-8", errors="replace"):
        return None
    found: pytest.Module | None = None
    if module_path.stem.isidentifier():
        found = pytest.Module.from_parent(parent, path=module_path)
        module: Any = found.obj
    else:  # such as talker.test.py, which pytest cannot import
        from launch_testing.loader import load_module

        module = load_module(module_path)
    described = getattr(module, "generate_test_description", None)
    if not any(mark.name == MARK for mark in getattr(described, "pytestmark", ())):
        return found
    launched = LaunchTestModule.from_parent(parent, path=module_path)
    launched.module = module
    return launched
