"""Test programs as part of a launch."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from launch.actions import ExecuteProcess
from launch.some_substitutions_type import SomeSubstitutionsType

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext
    from launch.launch_description_entity import LaunchDescriptionEntity


class Test(ExecuteProcess):
    """Runs a test program.

    Args:
        timeout: how long it may take [s]; None for as long as it likes.
    """

    __test__ = False  # no test case of pytest

    def __init__(self, *, timeout: float | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__timeout = timeout

    @property
    def timeout(self) -> float | None:
        """How long it may take [s]."""
        return self.__timeout

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Start the program, and the time after which it is ended."""
        if self.__timeout is not None:
            context.running_loop().call_later(self.__timeout, self.shutdown, context)
        return super().execute(context)


class GTest(Test):
    """Runs a program that was made with GoogleTest.

    Args:
        path: of the program.
        timeout: how long it may take [s]; None for as long as it likes.
    """

    def __init__(self, *, path: SomeSubstitutionsType, timeout: float | None = None, **kwargs: Any) -> None:
        super().__init__(cmd=[path], timeout=timeout, **kwargs)
        self.__path = path

    @property
    def path(self) -> SomeSubstitutionsType:
        """Of the program."""
        return self.__path


class PyTest(Test):
    """Runs a file of tests with pytest.

    Args:
        path: of the file.
        args: more arguments of pytest.
        timeout: how long it may take [s]; None for as long as it likes.
    """

    def __init__(
        self,
        *,
        path: SomeSubstitutionsType,
        args: Iterable[SomeSubstitutionsType] = (),
        timeout: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cmd=[sys.executable, "-m", "pytest", path, *args], timeout=timeout, **kwargs)
        self.__path = path

    @property
    def path(self) -> SomeSubstitutionsType:
        """Of the file."""
        return self.__path
