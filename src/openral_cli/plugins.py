"""Verbs that other packages add to `openral`; their modules are imported when they are needed.

An entry point of the group `openral.cli` has the verb as its name and `module:object` as its value, where the
object is a typer app (a group of verbs) or a function (one verb). `openral --help` imports those modules for
their one-line help, so they must be light: no torch, no simulator, no rclpy before the verb runs.
"""

from __future__ import annotations

import logging
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from openral_core.errors import nearest
from openral_core.process.collector import uncollected_imports

GROUP = "openral.cli"
PANELS = {
    "Start here": ("doctor", "demo", "deploy", "console", "sim"),
    "Talk to what runs": ("prompt", "mission", "arm", "fleet", "mcp", "memory"),
    "Skills, scenes, robots": ("rskill", "scene", "robot", "sidecar"),
    "Judge and learn": ("benchmark", "reward", "detector", "reasoner", "data", "train", "world-model"),
}
"""Groups of verbs in `openral --help`, in order; those of other plug-ins come last."""
OTHERS = "Of other packages"
WHOLE = 1000
"""Most characters of the short help of a verb, more than any has."""
_log = logging.getLogger(__name__)


class _PlainGroup(TyperGroup):
    """A group whose help shows the whole first sentence of each verb, wrapped instead of cut."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs with their short help."""
        verbs = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, verb.get_short_help_str(WHOLE)) for name, verb in verbs if verb and not verb.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class PluginGroup(TyperGroup):
    """The built-in verbs, then those of the plug-ins; a plug-in cannot replace a built-in."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that `args` begins with; the error about an unknown one names the nearest."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            like = nearest(args[0], self.list_commands(ctx))
            if like:  # typer itself suggests built-in verbs only
                ctx.fail(f"No such command '{args[0]}'. Did you mean '{like}'?")
        return super().resolve_command(ctx, args)

    @cached_property
    def _plugins(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=GROUP)}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return every verb: those of `PANELS` in their order, then the others, sorted."""
        known = {*super().list_commands(ctx), *self._plugins}
        first = [name for names in PANELS.values() for name in names if name in known]
        return [*first, *sorted(known.difference(first))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb, or None if there is none of that name or its package is broken (which is logged)."""
        command = super().get_command(ctx, cmd_name)
        if command is not None or cmd_name not in self._plugins:
            return in_its_panel(command, cmd_name)
        entry = self._plugins[cmd_name]
        try:
            with uncollected_imports():
                target = entry.load()
            command = command_of(target, cmd_name)
        except Exception as error:  # noqa: BLE001  a broken package of others must not end the help of all verbs
            why = f"{type(error).__name__}: {error}"
            _log.warning("`openral %s` (%s) cannot be loaded: %s", cmd_name, entry.value, why)
            return None
        self.add_command(command, cmd_name)
        return in_its_panel(command, cmd_name)


def command_of(target: Any, name: str) -> Any:
    """Turn a typer app or a function into a command of that name.

    It is made as a part of another app, because typer gives an app of its own the options `--install-completion` and
    `--show-completion`, which would install completion for a program of the verb's name. Its help is plain text: in a
    terminal of 80 columns typer's table cuts off the names of long options.
    """
    whole = typer.Typer(add_completion=False, rich_markup_mode=None)
    whole.callback()(lambda: None)  # else typer makes a single verb the whole command
    if isinstance(target, typer.Typer):
        whole.add_typer(target, name=name, cls=_PlainGroup)
    else:
        whole.command(name)(target)
    group: Any = typer.main.get_command(whole)
    return group.commands[name]


def in_its_panel(command: Any, name: str) -> Any:
    """Return a command with the panel of the help in which it is listed; None stays None."""
    if command is not None:
        command.rich_help_panel = next((panel for panel, names in PANELS.items() if name in names), OTHERS)
    return command
