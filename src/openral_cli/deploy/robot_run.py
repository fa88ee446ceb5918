"""Runs a mission on a real arm: follows the launch, and prints the reasoner's verdict, which no simulator checks."""

from __future__ import annotations

import signal
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from openral_cli.deploy.follow import SIGNALLED, follow
from openral_cli.deploy.no_mission_message import tell_no_mission
from openral_cli.deploy.prepare import check_run_folder, prepare
from openral_cli.deploy.recording_summary import RunRecording
from openral_cli.deploy.run_page import REPORT_FILE
from openral_core.cli.namespace_option import DEFAULT_NAMESPACE
from openral_core.errors import NotFoundError
from openral_core.files.output_folder import make_private
from openral_core.mission_record import RecordedMission, load_mission, words_after
from openral_core.process.launched_deployment import LAUNCH_LOG
from openral_core.scene import DeployScene
from openral_reasoner.mission.mission_view import table_of
from openral_robot_bridge.scene_loading import load_arm_scene

LAUNCH_FILE = "deploy_robot.launch.py"


def run_on_arm(arguments: dict[str, str], folder: Path, *, verbose: bool) -> int:
    """Run a deployment on an arm and print its outcome.

    Args:
        arguments: of `deploy_robot.launch.py`, without `run_dir`.
        folder: of the run; must not hold one already.
        verbose: whether all output of the nodes is shown.

    Returns:
        0 if the reasoner counts every task as done and the recording is in order, else 1; 130 after Ctrl-C without a
        mission; 143 after SIGTERM, with any outcome.

    Raises:
        OpenralError: the scene has no arm or is wrong, or the folder holds a run or cannot be written.
    """
    console = Console(highlight=False, emoji=False)
    scene = load_arm_scene(arguments["scene"], arguments["address"])
    check_run_folder(folder)
    recording = RunRecording.of(arguments, folder)
    prepare(console, scene, arguments)
    make_private(folder)
    console.print(_how_it_moves(scene, arguments.get("namespace", "")), markup=False, soft_wrap=True)
    given = {name: value for name, value in arguments.items() if value != ""}
    ended_by, code = follow(
        console, LAUNCH_FILE, {**given, "run_dir": str(folder.resolve())}, folder, verbose
    )
    try:
        mission = load_mission(folder)
    except NotFoundError:
        return tell_no_mission(console, folder, code, ended_by=ended_by, recording=recording)
    if mission.state == "idle":
        console.print("no mission was run")
    else:
        _print_mission(console, mission)
    if code and not ended_by:
        console.print(
            f"[red]the launch ended with code {code}[/red]; see {escape(str(folder / LAUNCH_LOG))}",
            soft_wrap=True,
        )
    recorded = recording is None or recording.report(console)
    if (folder / REPORT_FILE).is_file():
        console.print(f"what happened, in a browser: {folder / REPORT_FILE}", markup=False, soft_wrap=True)
    console.print(f"everything about this run: {folder}", markup=False, soft_wrap=True)
    if ended_by == signal.SIGTERM or (mission.state == "idle" and ended_by and recorded):
        return SIGNALLED + ended_by
    return 0 if mission.state == "done" and recorded and (code == 0 or ended_by) else 1


def _how_it_moves(scene: DeployScene, namespace: str) -> str:
    """Return, for the operator, when the arm can move, and how the deployment is ended."""
    assert scene.arm is not None  # `load_arm_scene`
    safety, end = scene.arm.safety, "Ctrl-C ends the deployment"
    if not safety.hold_to_run:
        return f"the arm at {scene.arm.address} moves with nobody beside it (hold_to_run: false); {end}"
    topic = f"{namespace or DEFAULT_NAMESPACE}/hold_to_run"
    return (
        f"the arm at {scene.arm.address} moves only while somebody publishes {topic}, at least every "
        f"{safety.hold_to_run_s:g} s; to try: ros2 topic pub --rate 20 {topic} std_msgs/msg/Empty; {end}"
    )


def _print_mission(console: Console, mission: RecordedMission) -> None:
    console.print()
    console.print(table_of(mission))
    words = words_after(mission.state, mission.message)
    said = mission.message if mission.state == "done" else f"mission {mission.state}: {words}"
    console.print(escape(said), soft_wrap=True)
    console.print("what is called done is openral's own opinion; no simulator judged it", soft_wrap=True)
