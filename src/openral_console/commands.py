"""The verb `openral console`; light to import, rclpy and NiceGUI come in when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openral_console.listen_options import DEFAULT_PORT, ListenOptions
from openral_core.cli import numbers
from openral_core.cli.namespace_option import DEFAULT_NAMESPACE, NamespaceOption
from openral_core.graph.namespaces import ros_arguments


def console(
    address: Annotated[
        str, typer.Option(help="Other than loopback: with --certificate, --key and --passwords.")
    ] = "127.0.0.1",
    port: Annotated[int, numbers.port("Of the page; 0: a free one.")] = DEFAULT_PORT,
    stop_port: Annotated[
        int, numbers.port("Of the process that serves the stop; 0: a free one.", "--stop-port")
    ] = 0,
    scene: Annotated[
        str, typer.Option(help="Of the deployment: its action contract, to move the arm by hand.")
    ] = "",
    space_mouse: Annotated[
        bool, typer.Option("--space-mouse", help="Of this machine: it moves the arm by hand, too.")
    ] = False,
    compressed: Annotated[
        bool, typer.Option("--compressed", help="Have the pictures as JPEG, over a thin network.")
    ] = False,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
    certificate: Annotated[Path | None, typer.Option(help="PEM file of the server's certificate.")] = None,
    key: Annotated[Path | None, typer.Option(help="PEM file of its private key.")] = None,
    passwords: Annotated[
        Path | None, typer.Option(help="File with a line name:password for each operator; chmod 600.")
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Folder of a finished run: show it over time, in place of a deployment."),
    ] = None,
) -> None:
    """Show the running deployment in a browser, with a stop that is always in reach; or a finished run."""
    options = ListenOptions(address, port, stop_port, certificate, key, passwords)
    options.check()
    if run is not None:
        _show_run(run, options)
        return
    if scene:
        from openral_core.scene import load_scene

        load_scene(scene)  # the page opens without it, but not with another one than was named
    from openral_console.ros.console_process import serve  # `openral --help` must not load rclpy

    arguments = [*ros_arguments(namespace), "--ros-args", "-p", f"compressed:={str(compressed).lower()}"]
    raise typer.Exit(serve(options, scene, space_mouse, args=arguments))


def _show_run(run: Path, options: ListenOptions) -> None:
    from openral_core.errors import InstallationError

    try:
        from openral_console.run.run_server import serve_run  # `openral --help` must not load NiceGUI
    except ModuleNotFoundError as error:
        raise InstallationError(f"{error.name} is not installed: pip install 'openral[console]'") from error
    serve_run(run, options)
