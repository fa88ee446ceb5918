"""`openral deploy sim`, `openral deploy robot` and `openral demo`: one sentence, one arm, one table at the end."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from openral_cli.deploy.follow import SIGNALLED, follow
from openral_cli.deploy.options import (
    AllowUnevaluatedOption,
    ConsoleOption,
    InferenceDeviceOption,
    KeepAliveOption,
    MissionOption,
    RecordDirOption,
    RecordOption,
    RewardMonitorOption,
    RunDirOption,
    VerboseOption,
    VideoOption,
    launch_arguments,
)
from openral_core.cli import completion, numbers
from openral_core.cli.namespace_option import DEFAULT_NAMESPACE, NamespaceOption
from openral_core.cli.tables import cell_text
from openral_core.errors import NotFoundError, OpenralError

DEMO_SCENE, DISTURBED_SCENE = "metaworld_drawer", "metaworld_puck"
deploy = typer.Typer(help="Run a scene with its skills, reward monitor and reasoner.", no_args_is_help=True)


@deploy.command("sim")
def deploy_sim(
    config: Annotated[
        str,
        typer.Option(
            "--config",
            autocompletion=completion.deploy_scenes,
            help="Name or path; `openral scene list` has names.",
        ),
    ],
    mission: MissionOption = None,
    reward_monitor: RewardMonitorOption = True,
    lockstep: Annotated[bool, typer.Option(help="Let the world wait for the policy: repeatable.")] = False,
    rtf: Annotated[
        float, numbers.real("Simulation seconds per wall second; 0: unpaced.", least=0.0, most=1000.0)
    ] = 1.0,
    init_id: Annotated[int, numbers.initial_state("Initial state; -1: the scene's own.")] = -1,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
    run_dir: RunDirOption = None,
    video: VideoOption = True,
    keep_alive: KeepAliveOption = False,
    device: InferenceDeviceOption = "cpu",
    allow_unevaluated: AllowUnevaluatedOption = False,
    sim_positions: Annotated[
        bool, typer.Option("--sim-positions", help="Locate things by the simulator's own positions.")
    ] = False,
    disturbance: Annotated[
        str, typer.Option(help="What goes wrong in the world, once: open_in_lift, push_away.")
    ] = "",
    rviz: Annotated[bool, typer.Option(help="Open RViz, where it is installed.")] = False,
    console: ConsoleOption = False,
    record: RecordOption = "none",
    record_dir: RecordDirOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Run a mission in a simulated scene; exit 0 when reasoner and simulator agree that all was done."""
    from openral_sim_bridge.disturbances import require_disturbance

    if disturbance:
        require_disturbance(disturbance)  # before anything starts
    shared = launch_arguments(
        mission=mission or "",
        reward_monitor=reward_monitor,
        keep_alive=keep_alive,
        device=device,
        allow_unevaluated=allow_unevaluated,
        console=console,
        record=record,
        record_dir=record_dir,
    )
    arguments = {
        **shared,
        "scene": config,
        "namespace": namespace,
        "mode": "lockstep" if lockstep else "realtime",
        "real_time_factor": str(rtf),
        "init_id": str(init_id),
        "sim_positions": str(sim_positions).lower(),
        "disturbance": disturbance,
        "rviz": str(rviz).lower(),
    }
    folder = run_dir or Path("runs") / f"{time.strftime('%Y%m%d-%H%M%S')}-{Path(config).stem}"
    raise typer.Exit(run_and_report(arguments, folder, video=video, verbose=verbose))


@deploy.command("robot")
def deploy_robot(
    config: Annotated[
        str,
        typer.Option(
            "--config",
            autocompletion=completion.robot_scenes,
            help="Name or path; `openral scene list` has names.",
        ),
    ],
    address: Annotated[str | None, typer.Option(help="Of the arm; default: the scene's.")] = None,
    shadow: Annotated[
        bool, typer.Option("--shadow", help="Do everything, but send nothing to the arm.")
    ] = False,
    mission: MissionOption = None,
    reward_monitor: RewardMonitorOption = True,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
    run_dir: RunDirOption = None,
    keep_alive: KeepAliveOption = False,
    device: InferenceDeviceOption = "cpu",
    allow_unevaluated: AllowUnevaluatedOption = False,
    console: ConsoleOption = False,
    record: RecordOption = "none",
    record_dir: RecordDirOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Run a mission on a real arm, which moves while somebody publishes `hold_to_run` in its namespace; exit 0 when the
    reasoner calls all of it done."""
    from openral_cli.deploy.robot_run import run_on_arm
    from openral_robot_bridge.scene_loading import given_address

    shared = launch_arguments(
        mission=mission or "",
        reward_monitor=reward_monitor,
        keep_alive=keep_alive,
        device=device,
        allow_unevaluated=allow_unevaluated,
        console=console,
        record=record,
        record_dir=record_dir,
    )
    arguments = {
        **shared,
        "scene": config,
        "address": given_address(address),
        "shadow": str(shadow).lower(),
        "namespace": namespace,
    }
    folder = run_dir or Path("runs") / f"{time.strftime('%Y%m%d-%H%M%S')}-{Path(config).stem}"
    raise typer.Exit(run_on_arm(arguments, folder, verbose=verbose))


def demo(
    mission: MissionOption = None,
    disturb: Annotated[
        bool, typer.Option("--disturb", help="Another scene: a grasp is opened in the lift.")
    ] = False,
    video: VideoOption = True,
    verbose: VerboseOption = False,
) -> None:
    """Open a drawer and close it again: one sentence, a learned policy, a reward monitor, no GPU, no ROS."""
    scene, disturbance = (DISTURBED_SCENE, "open_in_lift") if disturb else (DEMO_SCENE, "")
    folder = Path("runs") / f"{time.strftime('%Y%m%d-%H%M%S')}-{'disturbed' if disturb else 'drawer'}"
    arguments = {"scene": scene, "mission": mission or "", "disturbance": disturbance}
    if disturb:
        # At half speed a busy machine keeps up with two cameras, depth and two skills that look.
        arguments["real_time_factor"] = "0.5"
    raise typer.Exit(run_and_report(arguments, folder, video=video, verbose=verbose))


def run_and_report(arguments: dict[str, str], folder: Path, *, video: bool, verbose: bool) -> int:
    """Run a simulated deployment and print its outcome.

    Args:
        arguments: of `deploy_sim.launch.py`, without `run_dir`.
        folder: of the run; must not hold one already.
        video: whether the film is rendered.
        verbose: whether all output of the nodes is shown.

    Returns:
        0 if every task was done, the simulator agrees and the recording is in order, else 1; 130 after Ctrl-C without a
        mission; 143 after SIGTERM, with any outcome.

    Raises:
        OpenralError: the scene is wrong, or the folder holds a run or cannot be written.
    """
    from openral_cli.deploy.no_mission_message import ordered_mission, tell_no_mission
    from openral_cli.deploy.outcome_table import print_outcome
    from openral_cli.deploy.prepare import check_run_folder, prepare
    from openral_cli.deploy.recording_summary import RunRecording
    from openral_cli.deploy.run_outcome import judge
    from openral_cli.deploy.run_page import REPORT_FILE
    from openral_core.files.output_folder import make_private
    from openral_core.process.launched_deployment import LAUNCH_LOG
    from openral_core.scene import DeployScene, load_scene
    from openral_reasoner.mission.mission_view import table_of

    console = Console(highlight=False, emoji=False)
    scene: DeployScene = load_scene(arguments["scene"])
    check_run_folder(folder)
    recording = RunRecording.of(arguments, folder)
    unevaluated = prepare(console, scene, arguments)
    make_private(folder)
    given = {name: value for name, value in arguments.items() if value != ""}
    ended_by, code = follow(
        console, "deploy_sim.launch.py", {**given, "run_dir": str(folder.resolve())}, folder, verbose
    )
    mission = ordered_mission(folder)
    if mission is None:
        return tell_no_mission(console, folder, code, ended_by=ended_by, recording=recording)
    passed = False
    try:
        outcome = replace(judge(folder), unevaluated_skills=unevaluated)
    except NotFoundError as error:  # such as of a bridge whose disk was full
        console.print(f"[red]the simulator judged nothing[/red]: {cell_text(str(error))}", soft_wrap=True)
        console.print(table_of(mission))
        video = False
    else:
        print_outcome(console, outcome)
        outcome.write(folder)
        passed = outcome.passed
    if code and not ended_by:
        console.print(
            f"[red]the launch ended with code {code}[/red]; see {cell_text(str(folder / LAUNCH_LOG))}",
            soft_wrap=True,
        )
    if video and ended_by != signal.SIGTERM:  # whoever sends SIGTERM waits for some seconds only
        _film(console, folder, scene)
    recorded = recording is None or recording.report(console)
    if (folder / REPORT_FILE).is_file():
        console.print(f"what happened, in a browser: {folder / REPORT_FILE}", markup=False, soft_wrap=True)
    console.print(f"everything about this run: {folder}", markup=False, soft_wrap=True)
    if ended_by == signal.SIGTERM:
        return SIGNALLED + ended_by
    return 0 if passed and recorded and (code == 0 or ended_by) else 1


def _film(console: Console, folder: Path, scene: Any) -> None:
    """Render the film; if that fails, only print why."""
    from openral_cli.deploy.mission_video import LONG_FILM, write_film

    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("rendering mission.mp4", total=None)

        def advance(frame: int, total: int) -> None:
            progress.update(task, completed=frame, total=total)
            if frame == 1 and not console.is_terminal:  # where no bar is drawn
                long = "; it may take minutes, and --no-video leaves it out" if total >= LONG_FILM else ""
                console.print(f"rendering mission.mp4, {total} frames{long}")

        try:
            film = write_film(folder, scene, on_frame=advance)
        except OpenralError as error:
            console.print(f"[yellow]no film[/yellow]: {cell_text(str(error))}", soft_wrap=True)
            return
    console.print(f"the film of it: {film}", markup=False, soft_wrap=True)
