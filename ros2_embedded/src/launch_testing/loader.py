"""Test files: what they launch, and the test cases in them."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
import unittest
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from launch import LaunchDescription
from launch.launch_description_entity import LaunchDescriptionEntity

from .actions.ready import ReadyToTest
from .decorator import runs_after_shutdown
from .parametrize import parameters_of

DESCRIPTION = "generate_test_description"
"""The function of a test file that returns what to launch."""
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_FIXTURES = ("setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown")


@dataclass(eq=False)
class TestRun:
    """One launch with its tests.

    Attributes:
        name: of the file.
        test_description_function: returns what to launch.
        cases: the test cases, in the order of the file.
        param_args: values of this run, see `parametrize`.
    """

    __test__ = False  # no test case of pytest

    name: str
    test_description_function: Callable[..., Any]
    cases: list[type[unittest.TestCase]]
    param_args: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """The name, with the values."""
        values = ", ".join(f"{name}={value}" for name, value in self.param_args.items())
        return f"{self.name}[{values}]" if values else self.name

    def describe(self, ready: Callable[[], None]) -> tuple[LaunchDescription, dict[str, Any]]:
        """What to launch, and what tests may name among their arguments.

        Raises:
            TypeError: the function takes other arguments, or returns something else.
        """
        function = self.test_description_function
        options = dict(self.param_args)
        parameters = inspect.signature(function).parameters
        if "ready_fn" in parameters:
            options["ready_fn"] = ready
        self._check(parameters, options)
        result = function(**options)
        description, context = result if isinstance(result, tuple) else (result, {})
        if not isinstance(description, LaunchDescriptionEntity) or not isinstance(context, Mapping):
            raise TypeError(
                f"{DESCRIPTION}() of {self.name} must return a LaunchDescription, alone or with a dictionary "
                f"of what tests need, not {result!r}"
            )
        return description, {**self.param_args, **context}  # type: ignore[return-value]

    def _check(self, parameters: Mapping[str, inspect.Parameter], options: Mapping[str, Any]) -> None:
        """Raise TypeError where a function with these parameters cannot be called with these values."""
        takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
        for name in options:
            if name not in parameters and not takes_all:
                raise TypeError(
                    f"Could not find an argument of {DESCRIPTION}() of {self.name} named {name!r}"
                )
        for name, one in parameters.items():
            is_open = one.default is inspect.Parameter.empty and one.kind not in _VARIADIC
            if is_open and name not in options:
                raise TypeError(
                    f"{DESCRIPTION}() of {self.name} has an unexpected extra argument {name!r}; it is given "
                    "ready_fn and what parametrize names"
                )

    @property
    def skip_reason(self) -> str | None:
        """Why nothing is launched, where the description is marked with `unittest.skip`."""
        if not getattr(self.test_description_function, "__unittest_skip__", False):
            return None
        return str(getattr(self.test_description_function, "__unittest_skip_why__", ""))

    def skip(self, result: unittest.TestResult, reason: str) -> None:
        """Put all tests into a result as skipped."""
        for case in self.cases:
            for test in map(case, unittest.defaultTestLoader.getTestCaseNames(case)):
                result.startTest(test)
                result.addSkip(test, reason)
                result.stopTest(test)

    def suite(self, after_shutdown: bool, given: Mapping[str, Any]) -> unittest.TestSuite:
        """The tests beside the launch, or those after it; each has what is given as attributes."""
        chosen = [case for case in self.cases if runs_after_shutdown(case) is after_shutdown]
        load = unittest.defaultTestLoader.loadTestsFromTestCase
        return unittest.TestSuite(load(with_given(case, given)) for case in chosen)


def load_module(path: Path) -> ModuleType:
    """Run a test file; its folder comes first in the search for modules, as with a program.

    Raises:
        FileNotFoundError: there is no such file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"test file '{path}' does not exist")
    name = path.stem.replace(".", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"test file '{path}' is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    spec.loader.exec_module(module)
    return module


def LoadTestsFromPythonModule(module: ModuleType, *, name: str = "launch_tests") -> list[TestRun]:
    """The runs of a module that was imported: one for each value, see `parametrize`.

    Raises:
        AttributeError: it describes nothing to launch.
    """
    function = getattr(module, DESCRIPTION, None)
    if function is None:
        raise AttributeError(f"{module.__name__} has no function {DESCRIPTION}()")
    cases = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, unittest.TestCase)
        and value.__module__ == module.__name__
    ]
    return [TestRun(name, function, cases, values) for values in parameters_of(function)]


def ready_actions(description: LaunchDescriptionEntity) -> list[ReadyToTest]:
    """Each `ReadyToTest` that is known before the launch runs."""
    if isinstance(description, ReadyToTest):
        return [description]
    entities = list(description.describe_sub_entities())
    for _, conditional in description.describe_conditional_sub_entities():
        entities += conditional
    return [action for entity in entities for action in ready_actions(entity)]


def with_given(case: type[unittest.TestCase], given: Mapping[str, Any]) -> type[unittest.TestCase]:
    """A test case that has what is given as attributes, and whose functions get what they name."""
    names = [name for name in dir(case) if name.startswith("test") or name in _FIXTURES]
    bound = {name: _bind(inspect.getattr_static(case, name), given) for name in names}
    members = {name: function for name, function in bound.items() if function is not None}
    origin = {"__module__": case.__module__, "__qualname__": case.__qualname__}
    return type(case.__name__, (case,), {**given, **members, **origin})


def _bind(found: Any, given: Mapping[str, Any]) -> Any:
    """A function with the arguments that it names; None where it names none."""
    function = getattr(found, "__func__", found)
    if not inspect.isfunction(function):
        return None
    wanted = {name: given[name] for name in inspect.signature(function).parameters if name in given}
    if not wanted:
        return None
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any) -> Any:
            return await function(*args, **wanted)

        return awaited

    @functools.wraps(function)
    def called(*args: Any) -> Any:
        return function(*args, **wanted)

    return classmethod(called) if isinstance(found, classmethod) else called
