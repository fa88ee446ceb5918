"""The process of the console: the node in one thread, and the server of the pages in the main thread."""

from __future__ import annotations

import sys
from pathlib import Path

import rclpy
from rclpy.signals import SignalHandlerOptions

from openral_console.listen_options import DEFAULT_PORT, ListenOptions
from openral_console.live.deployment import LiveDeployment
from openral_console.ros.console_node import ConsoleNode
from openral_console.ros.fleet_stop import deployments_in
from openral_console.ros.spinning import spinning
from openral_console.ros.teleop_controller import TeleopController
from openral_console.teleop.pyspacemouse_device import PySpaceMouseDevice, check_pyspacemouse
from openral_core.errors import InstallationError, OpenralError
from openral_core.guarded_callbacks import EXIT_UNFIT
from openral_core.process.announcements import console_line
from openral_core.process.stop_signals import StopSignals
from openral_core.ros.session_certificates import refused_or

NO_PORT = -1
"""Of the parameter `port`: none was asked for."""


def serve(
    options: ListenOptions | None = None,
    scene: str = "",
    space_mouse: bool = False,
    args: list[str] | None = None,
) -> int:
    """Serve until the process is stopped.

    Args:
        options: where to listen; None: as the node's parameters `address`, `port`, `stop_port`, `certificate`, `key`,
            `passwords`, `scene`, `space_mouse` and `run_dir` say. Without a `port`, beside another console, on any.
        scene: name or path of the scene, for moving the arm by hand; empty: the node's parameter.
        space_mouse: the SpaceMouse of this machine may move the arm, too; else as the node's parameter says.
        args: of the command line, for rclpy.

    Raises:
        OpenralError: a protection is missing, a port is taken, or NiceGUI or pyspacemouse is not installed.
    """
    try:
        from openral_console.server import ConsoleServer
    except ModuleNotFoundError as error:
        raise InstallationError(f"{error.name} is not installed: pip install 'openral[console]'") from error
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    deployment = LiveDeployment()
    node = ConsoleNode(deployment)
    with StopSignals() as signals, spinning(node):  # the server has handlers of its own while it runs
        chosen, actions_file = (options, None) if options else _parameters(node)
        scene = scene or str(node.declare_parameter("scene", "").value)
        space_mouse = space_mouse or bool(node.declare_parameter("space_mouse", False).value)
        if space_mouse:
            check_pyspacemouse()
        server = ConsoleServer(
            deployment,
            node,
            TeleopController(node, deployment, scene),
            chosen,
            actions_file,
            node.get_logger().info,
            node.get_namespace(),
            PySpaceMouseDevice if space_mouse else None,
        )
        # Not by the logger: whoever reads /rosout would have the token.
        sys.stdout.write(f"{console_line(server.url)}\n")
        sys.stdout.flush()
        if options and (missing := _missing(node)):
            node.get_logger().warning(missing)
        server.run(lambda: signals.received)
    return 0


def _missing(node: ConsoleNode) -> str:
    """Return, in words, that the deployment is not found, and which are; empty if it is found."""
    found, own = deployments_in(node), node.get_namespace()
    if own in found:
        return ""
    there = (
        f"there is {', '.join(found)}" if found else refused_or("none is in the graph of this ROS_DOMAIN_ID")
    )
    return f"no deployment is in {own} yet, which the page shows once it is there; {there}"


def _parameters(node: ConsoleNode) -> tuple[ListenOptions, Path | None]:
    """Return where to listen, and the file of actions in the run's folder, if there is one."""

    def read(name: str, default: object) -> object:
        return node.declare_parameter(name, default).value

    def path(name: str) -> Path | None:
        value = str(read(name, ""))
        return Path(value) if value else None

    run_dir, port = path("run_dir"), int(str(read("port", NO_PORT)))
    options = ListenOptions(
        address=str(read("address", "127.0.0.1")),
        port=DEFAULT_PORT if port == NO_PORT else port,
        or_free=port == NO_PORT,
        stop_port=int(str(read("stop_port", 0))),
        certificate=path("certificate"),
        key=path("key"),
        passwords=path("passwords"),
    )
    return options, run_dir / "console.jsonl" if run_dir else None


def main(args: list[str] | None = None) -> int:
    """Run the console of a launch; return EXIT_UNFIT if it cannot listen."""
    try:
        return serve(args=args)
    except OpenralError as error:
        sys.stderr.write(f"error: {error}\n")
        return EXIT_UNFIT


if __name__ == "__main__":
    sys.exit(main())
