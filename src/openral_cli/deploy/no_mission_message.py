"""Why a deployment came to no mission, in words for its operator."""

from __future__ import annotations

import re
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from openral_cli.deploy.follow import SIGNALLED
from openral_core.process.launched_deployment import LAUNCH_LOG

_REFUSED = re.compile(r"\[launch\]: caught exception in launch \([^)]*\): (.+)", re.IGNORECASE)
"""What launch says, in ROS 2 and in ours, where a launch file refuses what it was asked for."""

_FATAL = re.compile(r"\[FATAL\] (?:\[[^\]]*\] ?)*:? ?(.+)")
"""What a node says last that ends the deployment."""


def tell_no_mission(console: Console, folder: Path, code: int, *, ended_by: int) -> int:
    """Say why there was none; return the command's exit code.

    Args:
        console: shows it.
        folder: of the run, with the launch's log.
        code: that the launch ended with.
        ended_by: number of the signal that ended it; 0: none did.
    """
    log = folder / LAUNCH_LOG
    why = f"the launch ended with code {code} before one began"
    if ended_by:
        why = "the deployment was interrupted before one began"
    else:
        lines = log.read_text(encoding="utf-8", errors="replace")
        if refused := _REFUSED.findall(lines):
            why = f"the launch refused it: {refused[-1]}"
        elif fatal := _FATAL.findall(lines):
            why = fatal[-1]
    console.print(f"[red]no mission was run[/red]: {escape(why)}", soft_wrap=True)
    console.print(f"every line of every node: {log}", soft_wrap=True)
    return SIGNALLED + ended_by if ended_by else 1
