"""Running a command as part of a launch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..descriptions.executable import Executable, Pairs
from ..frontend.command_line import parse_command_line
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..frontend.pairs import parse_pairs
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from .execute_local import ExecuteLocal
from .shutdown_action import Shutdown

if TYPE_CHECKING:
    from ..frontend.parser import Parser

_TEXTS = {"cwd": "cwd", "name": "name", "launch-prefix": "prefix", "output": "output"}
_VALUES: dict[str, type] = {
    "shell": bool,
    "respawn": bool,
    "respawn_delay": float,
    "respawn_max_retries": int,
    "sigterm_timeout": float,
    "sigkill_timeout": float,
    "emulate_tty": bool,
    "log_cmd": bool,
}


@expose_action("executable")
class ExecuteProcess(ExecuteLocal):
    """Runs a command. See `Executable` for what it is made of and `ExecuteLocal` for how it runs."""

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: Pairs | None = None,
        additional_env: Pairs | None = None,
        **kwargs: Any,
    ) -> None:
        executable = Executable(
            cmd=cmd, prefix=prefix, name=name, cwd=cwd, env=env, additional_env=additional_env
        )
        super().__init__(process_description=executable, **kwargs)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser, ignore: Iterable[str] = ()) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup; `ignore` names what subclasses read."""
        _, kwargs = super().parse(entity, parser)
        ignored = set(ignore)
        if "cmd" not in ignored:
            kwargs["cmd"] = parse_command_line(entity.get_attr("cmd"), parser)
        for attribute, keyword in _TEXTS.items():
            text = None if attribute in ignored else entity.get_attr(attribute, optional=True)
            if text is not None:
                kwargs[keyword] = parser.parse_substitution(text)
        for attribute, value_type in _VALUES.items():
            value = (
                None
                if attribute in ignored
                else entity.get_attr(attribute, data_type=value_type, optional=True)
            )
            if value is not None:
                kwargs[attribute] = parser.parse_if_substitutions(value)
        if entity.get_attr("on_exit", optional=True) is not None:
            kwargs["on_exit"] = _parse_on_exit(entity)
        if "env" not in ignored:
            elements = entity.get_attr("env", data_type=list[Entity], optional=True)
            if elements:
                kwargs["additional_env"] = parse_pairs(elements, parser)
        return cls, kwargs

    @classmethod
    def _parse_cmdline(cls, cmd: str, parser: Parser) -> list[list[Substitution]]:
        return parse_command_line(cmd, parser)

    @property
    def cmd(self) -> list[Any]:
        """The command: as executed once visited, before that its substitutions."""
        return list(self.process_description.final_cmd) or list(self.process_description.cmd)

    @property
    def cwd(self) -> list[Substitution] | None:
        """The working directory, before substitution."""
        return self.process_description.cwd

    @property
    def env(self) -> Any:
        """The whole environment, before substitution."""
        return self.process_description.env

    @property
    def additional_env(self) -> Any:
        """Variables on top of the environment, before substitution."""
        return self.process_description.additional_env


def _parse_on_exit(entity: Entity) -> Shutdown:
    word = entity.get_attr("on_exit")
    if word != "shutdown":
        raise ValueError(
            f"on_exit of '{entity.type_name}' is '{word}'; the only reaction in markup is 'shutdown'"
        )
    return Shutdown()
