"""The command line of `openral robot`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openral_core.cli import completion, numbers
from openral_rskill.cli.completion import skills

if TYPE_CHECKING:
    from openral_core.scene import DeployScene

app = typer.Typer(help="Real arms and their twins: check, home, recover, try a skill.", no_args_is_help=True)
SceneRef = Annotated[
    str,
    typer.Argument(
        metavar="SCENE",
        autocompletion=completion.robot_scenes,
        help="Name or path of a scene with a real arm.",
    ),
]
CAMERAS_WATCHED_S = 10.0
"""[s] for which the images of the cameras are observed."""
Address = Annotated[str | None, typer.Option(help="Address of the arm; default: the scene's.")]


@app.command()
def check(scene: SceneRef = "fr3_tabletop", address: Address = None) -> None:
    """Connect to an arm, compare its limits with robot.yaml, watch its cameras, and say whether it may begin; nothing
    moves."""
    from openral_core.cli.tables import console, print_gates
    from openral_robot_bridge.arm_check import check_arm

    loaded = _scene(scene, address)
    with console().status(_connecting(loaded)):
        rows = check_arm(loaded)
    if loaded.arm is not None and loaded.arm.cameras:
        from openral_robot_bridge.cameras.camera_check import judge_camera
        from openral_robot_bridge.ros.camera_watch import watch_cameras

        seen = watch_cameras(loaded, CAMERAS_WATCHED_S)
        cameras = [camera for camera in loaded.cameras if camera.name in seen]
        rows += [row for camera in cameras for row in judge_camera(loaded, camera, seen[camera.name])]
    print_gates([(row.what, row.ok, row.found, row.fix) for row in rows])
    if not all(row.ok for row in rows):
        raise typer.Exit(1)


@app.command()
def home(
    scene: SceneRef = "fr3_tabletop",
    address: Address = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; the arm moves at once.")] = False,
) -> None:
    """Lead an arm slowly to where its scene begins, unless its emergency stop is latched; Ctrl-C brings it to rest."""
    from openral_core.cli.tables import console
    from openral_robot_bridge.homing import go_home, require_released

    loaded = _scene(scene, address)
    require_released(loaded)
    if not yes:
        typer.confirm(
            "The arm will move by itself. Is everybody out of its reach, and a stop at hand?", abort=True
        )
    console().print(_connecting(loaded), markup=False, soft_wrap=True)
    try:
        go_home(loaded, lambda line: console().print(line, markup=False, soft_wrap=True))
    except KeyboardInterrupt:
        console().print("interrupted; the arm was brought to rest")
        raise typer.Exit(130) from None


@app.command()
def recover(scene: SceneRef = "fr3_tabletop", address: Address = None) -> None:
    """Let an arm leave a reflex; nothing moves, but its brakes may open."""
    from openral_core.cli.tables import console
    from openral_robot_bridge.robot_arm import RobotArm

    loaded = _scene(scene, address)
    with console().status(_connecting(loaded)):
        arm = RobotArm(loaded, shadow=True)
    try:
        arm.recover()
        console().print(f"the arm is {arm.state.mode.value}")
    finally:
        arm.close()


@app.command()
def twin(
    scene: SceneRef = "fr3_tabletop",
    address: Annotated[str, typer.Option(help="Address of this machine to listen on.")] = "127.0.0.1",
    patience_ms: Annotated[
        float,
        numbers.real(
            "Wall time that a Franka's cycle waits for its command; a real arm: 1 ms.", least=1, most=1000
        ),
    ] = 1.0,
    cameras_port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="Port for pictures of the scene's cameras; 0: none are drawn."),
    ] = 0,
) -> None:
    """Run a MuJoCo arm that answers as the controller of a real one, until told `quit`.

    One behind ros2_control is in the ROS domain that its scene, or the address, names.
    """
    from openral_core.cli.tables import console
    from openral_robot_bridge.twins.run import run_twin

    def say(line: str) -> None:
        console().print(line, markup=False, soft_wrap=True)

    run_twin(_scene(scene), address, patience_ms * 1e-3, say, cameras_port)


@app.command()
def world(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            autocompletion=completion.scenes,
            help="A scene of a simulator's world with a real arm in it.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for the scene, its model and what that reads, new or empty.")
    ],
    first: Annotated[int, typer.Option(min=0, max=numbers.MAX_32, help="First initial state.")] = 1000,
    count: Annotated[int, numbers.count("How many initial states.")] = 50,
) -> None:
    """Write robosuite's world with a Franka Research 3 in it, for its twin; robosuite's sidecar must be built."""
    from openral_core.cli.tables import console
    from openral_core.files.output_folder import check_new_folder
    from openral_robot_bridge.twins.robosuite_export import write_world

    loaded = _scene(scene)
    check_new_folder(out, "--out")
    console().print(f"scene: {write_world(loaded, out, first, count)}", soft_wrap=True)


@app.command("try")
def try_skill(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE", autocompletion=completion.robot_scenes, help="Scene of an arm behind libfranka."
        ),
    ],
    rskill: Annotated[str, typer.Option(autocompletion=skills, help="Name, reference or folder of a skill.")],
    out: Annotated[Path, typer.Option(help="Folder of the run, new or empty.")],
    n_episodes: Annotated[int, numbers.count("Of successive initial states.")] = 10,
    init_id: Annotated[int, numbers.initial_state("First initial state; -1: the scene's own.")] = -1,
    instruction: Annotated[str, typer.Option(help="Words; default: the skill's own example.")] = "",
    max_steps: Annotated[int, numbers.count("Control steps that a trial may take.")] = 400,
    address: Annotated[str, typer.Option(help="Of this machine that the twin listens on.")] = "127.0.0.1",
    cameras_port: Annotated[int, typer.Option(min=1, max=65535, help="Of the twin's pictures.")] = 1339,
    patience_ms: Annotated[
        float, numbers.real("Wall time that the twin's cycle waits for its command.", least=1, most=1000)
    ] = 20.0,
    lockstep: Annotated[
        bool, typer.Option(help="Let the twin's time pass as its arm is led, without ROS: for slow machines.")
    ] = False,
) -> None:
    """Try a skill on the twin of a scene's arm, through a whole deployment; a row a trial. Exit 1 if none succeeded."""
    from openral_core.cli.progress import told_when_stopped
    from openral_core.cli.tables import console
    from openral_core.files.output_folder import check_new_folder
    from openral_robot_bridge.scene_loading import require_host
    from openral_robot_bridge.trials.deployment_trials import RESULT, TrialPlan, run_trials, words_of
    from openral_robot_bridge.trials.trial import TrialRow
    from openral_rskill.compatibility import require_fit, require_policy
    from openral_rskill.registry import resolve

    require_host(address)
    loaded, package = _scene(scene), resolve(rskill)
    require_policy(package.manifest)
    task = loaded.task_ids[0].rpartition("/")[2]
    require_fit(package, loaded, task=task, lockstep=lockstep, allow_unevaluated=True)
    check_new_folder(out, "--out")
    first = init_id if init_id >= 0 else loaded.init_id
    words = instruction or words_of(package, loaded)
    plan = TrialPlan(words, first, n_episodes, max_steps, address, cameras_port, patience_ms, lockstep)

    def show(row: TrialRow) -> None:
        line = f"{'yes' if row.success else 'no ':3} {row.steps:4} steps {row.wall_s:6.1f} s {row.outcome} {row.check}"
        said = f"{line}, {row.behind_rad:.3f} rad behind, twin {row.twin_s:.1f} s, {row.missed} missed {row.stopped_by}"
        console().print(f"{row.init_id}  {said}", markup=False, soft_wrap=True)

    file = out / RESULT
    with told_when_stopped(lambda: f"{file} has the trials that had ended" if file.exists() else ""):
        found = run_trials(loaded, package, plan, out, show)["results"]
    low, high = found["wilson_95"]
    console().print(
        f"{found['successes']} of {found['n_episodes']} succeeded (95 % interval {low:.2f} to {high:.2f})"
    )
    console().print(f"result: {file}", soft_wrap=True)
    if not found["successes"]:
        raise typer.Exit(1)


def _scene(ref: str, address: str | None = None) -> DeployScene:
    from openral_robot_bridge.scene_loading import given_address, load_arm_scene

    return load_arm_scene(ref, given_address(address))


def _connecting(scene: DeployScene) -> str:
    from openral_robot_bridge.process import CONNECT_S

    where = scene.arm.address if scene.arm is not None else ""
    return f"connecting to the arm at {where}, for {CONNECT_S:.0f} s at most"
