"""The base of events that come from a running process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...event import Event

if TYPE_CHECKING:
    from ...actions.execute_local import ExecuteLocal


class RunningProcessEvent(Event):
    """Something a process did.

    Args:
        action: the action that started it.
        name: the process's name in the launch, such as `talker-1`.
        cmd: the command line as executed.
        cwd: the working directory, None for the launch's own.
        env: the environment, None for the launch's own.
        pid: the process's id.
    """

    name = "launch.events.process.RunningProcessEvent"

    def __init__(
        self,
        *,
        action: ExecuteLocal,
        name: str,
        cmd: list[str],
        cwd: str | None,
        env: dict[str, str] | None,
        pid: int,
    ) -> None:
        self.__action = action
        self.__name = name
        self.__cmd = cmd
        self.__cwd = cwd
        self.__env = env
        self.__pid = pid

    @property
    def action(self) -> ExecuteLocal:
        """The action that started the process."""
        return self.__action

    @property
    def execute_process(self) -> ExecuteLocal:
        """The action, under its older name."""
        return self.__action

    @property
    def process_name(self) -> str:
        """The process's name in the launch."""
        return self.__name

    @property
    def cmd(self) -> list[str]:
        """The command line as executed."""
        return self.__cmd

    @property
    def cwd(self) -> str | None:
        """The working directory."""
        return self.__cwd

    @property
    def env(self) -> dict[str, str] | None:
        """The environment."""
        return self.__env

    @property
    def pid(self) -> int:
        """The process's id."""
        return self.__pid
