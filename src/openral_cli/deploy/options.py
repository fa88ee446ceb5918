"""Options that the deployments of a simulator and of a real arm share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openral_core.errors import UsageError


def _not_empty(mission: str | None) -> str | None:
    """Refuse an empty mission, as from an unset shell variable, for which the scene's own would be run."""
    if mission is not None and not mission.strip():
        raise typer.BadParameter("it is empty; leave the option out to do the scene's own mission")
    return mission


MissionOption = Annotated[
    str | None, typer.Option(help="The sentence; default: the scene's own.", callback=_not_empty)
]
RewardMonitorOption = Annotated[
    bool, typer.Option("--enable-reward-monitor/--no-reward-monitor", help="Watch progress.")
]
RunDirOption = Annotated[Path | None, typer.Option(help="Default: runs/<time>-<scene>.")]
KeepAliveOption = Annotated[bool, typer.Option(help="Go on after the mission, until Ctrl-C.")]
InferenceDeviceOption = Annotated[str, typer.Option(help="Where skills and reward model infer: cpu, cuda.")]
AllowUnevaluatedOption = Annotated[
    bool, typer.Option("--allow-unevaluated", help="Run skills in a scene they were not evaluated in.")
]
ConsoleOption = Annotated[
    bool, typer.Option("--console", help="Show it in a browser; the address is printed.")
]
RecordOption = Annotated[str, typer.Option(help="Record: always, episodes, highlight or interventions.")]
RecordDirOption = Annotated[
    Path | None, typer.Option(help="Of the recording, which may hold one already; default: in the run's.")
]
VideoOption = Annotated[bool, typer.Option(help="Write mission.mp4 afterwards.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Show every line of every node.")]


def launch_arguments(
    *,
    mission: str,
    reward_monitor: bool,
    keep_alive: bool,
    device: str,
    allow_unevaluated: bool,
    console: bool,
    record: str,
    record_dir: Path | None,
) -> dict[str, str]:
    """Return the arguments that both launch files share, as text.

    Raises:
        UsageError: there is a folder for a recording, and none is asked for.
        ConfigError: there is no such recording strategy.
    """
    from openral_data.recording.strategy import strategy_of

    if record == "none" and record_dir is not None:
        raise UsageError(
            "--record-dir is for a recording; write --record always, episodes, highlight or interventions"
        )
    if record != "none":
        strategy_of(record)  # before anything starts
    return {
        "mission": mission,
        "enable_reward_monitor": str(reward_monitor).lower(),
        "exit_when_done": str(not keep_alive).lower(),
        "device": device,
        "allow_unevaluated": str(allow_unevaluated).lower(),
        "console": str(console).lower(),
        "record": record,
        "record_dir": str(record_dir.resolve()) if record_dir else "",
    }
