"""The command line of `openral robot`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from openral_core.cli import numbers

if TYPE_CHECKING:
    from openral_core.scene import DeployScene

app = typer.Typer(help="Look at real arms, and run twins of them.", no_args_is_help=True)
SceneRef = Annotated[str, typer.Argument(metavar="SCENE", help="Name or path of a scene with a real arm.")]
CAMERAS_WATCHED_S = 10.0
"""[s] for which the pictures of cameras are looked at."""
Address = Annotated[str, typer.Option(help="Address of the arm; default: the scene's.")]


@app.command()
def check(scene: SceneRef = "fr3_tabletop", address: Address = "") -> None:
    """Connect to an arm, compare its limits with robot.yaml, watch its cameras, and say whether it may begin; nothing
    moves."""
    from openral_core.cli.tables import print_gates
    from openral_robot_bridge.arm_check import check_arm

    loaded = _scene(scene, address)
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
    address: Address = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; the arm moves at once.")] = False,
) -> None:
    """Lead an arm slowly to where its scene begins; Ctrl-C brings it to rest."""
    from openral_core.cli.tables import console
    from openral_robot_bridge.homing import go_home

    loaded = _scene(scene, address)
    if not yes:
        typer.confirm(
            "The arm will move by itself. Is everybody out of its reach, and a stop at hand?", abort=True
        )
    go_home(loaded, lambda line: console().print(line, markup=False, soft_wrap=True))


@app.command()
def recover(scene: SceneRef = "fr3_tabletop", address: Address = "") -> None:
    """Let an arm leave a reflex; nothing moves, but its brakes may open."""
    from openral_core.cli.tables import console
    from openral_robot_bridge.robot_arm import RobotArm

    arm = RobotArm(_scene(scene, address), shadow=True)
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

    run_twin(_scene(scene, ""), address, patience_ms * 1e-3, say, cameras_port)


def _scene(ref: str, address: str) -> DeployScene:
    from openral_robot_bridge.arm_scene import load_arm_scene

    return load_arm_scene(ref, address)
