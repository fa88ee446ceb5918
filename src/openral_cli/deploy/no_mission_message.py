"""Tells the operator why a deployment ended without a mission."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from rich.console import Console

from openral_cli.deploy.follow import SIGNALLED
from openral_cli.deploy.recording_summary import RunRecording
from openral_core.cli.tables import cell_text
from openral_core.errors import NotFoundError
from openral_core.files.bounded_log import log_text
from openral_core.mission_record import RecordedMission, load_mission
from openral_core.process.launched_deployment import LAUNCH_LOG

_REFUSED = re.compile(r"\[launch\]: caught exception in launch \([^)]*\): (.+)", re.IGNORECASE)
"""Matches launch's line, in ROS 2 and in ros2_embedded, when a launch file raises an error, with its text."""

_FATAL = re.compile(r"\[FATAL\] (?:\[[^\]]*\] ?)*:? ?(.+)")
"""Matches the fatal line of a node that ends the deployment, with its text."""


def ordered_mission(folder: Path) -> RecordedMission | None:
    """Return the mission in the folder of a run; None: the reasoner did not come to one, or nobody ordered one.

    Raises:
        ManifestError: its record was altered.
    """
    try:
        mission = load_mission(folder)
    except NotFoundError:
        return None
    return None if mission.state == "idle" else mission


def tell_no_mission(
    console: Console, folder: Path, code: int, *, ended_by: int, recording: RunRecording | None = None
) -> int:
    """Print why there was no mission; return the command's exit code.

    Where the deployment was interrupted, what it recorded is told, such as what an operator drove by hand.

    Args:
        console: for the output.
        folder: of the run, with the launch's log.
        code: that the launch ended with.
        ended_by: number of the signal that ended it; 0: no signal did.
        recording: of the run; None: it does not record.
    """
    log = folder / LAUNCH_LOG
    why = f"the launch ended with code {code} before one began"
    if ended_by:
        why = "the deployment was interrupted before one began"
    else:
        lines = log_text(log)
        if refused := _REFUSED.findall(lines):
            why = f"the launch refused it: {refused[-1]}"
        elif fatal := _FATAL.findall(lines):
            why = fatal[-1]
    console.print(f"[red]no mission was run[/red]: {cell_text(why)}", soft_wrap=True)
    console.print(f"every line of every node: {log}", markup=False, soft_wrap=True)
    recorded = recording is None or not ended_by or recording.report(console)
    return SIGNALLED + ended_by if ended_by == signal.SIGTERM or (ended_by and recorded) else 1
