"""The verbs of `openral fleet`; light to import, rclpy comes in when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from openral_core.cli import numbers

NOBODY = 2
"""Exit code if no deployment was found, or none of those that were named."""
app = typer.Typer(no_args_is_help=True, help="All deployments of this ROS domain, each in its namespace.")
Names = Annotated[list[str] | None, typer.Argument(help="Namespaces, such as /arm2; none: all.")]
Search = Annotated[
    float, numbers.real("[s] to look for deployments; longer over a slow link.", least=0.1, most=600)
]
Json = Annotated[bool, typer.Option("--json", help="One line of JSON in place of tables.")]


@app.command("list")
def list_robots(search: Search = 2.0, json: Json = False) -> None:
    """Print a line for each deployment: what its arm does, and its mission."""
    raise typer.Exit(_show([], search, as_json=json, briefly=True))


@app.command()
def status(namespaces: Names = None, search: Search = 2.0, json: Json = False) -> None:
    """Print what is known of each deployment."""
    raise typer.Exit(_show(namespaces or [], search, as_json=json, briefly=False))


@app.command()
def stop(namespaces: Names = None, search: Search = 2.0) -> None:
    """Latch the emergency stop of one deployment, of several, or of all that are found.

    Exit code 0: every one of them says that it is stopped. 1: at least one does not. 2: none was found.
    Each is released by itself, by its service `estop_reset`, once all is safe there.
    """
    from openral_console.live.fleet_tables import stop_table
    from openral_console.ros.fleet_node import fleet  # `openral --help` must not load rclpy
    from openral_core.cli.tables import console
    from openral_core.graph.namespaces import estop_reset_command
    from openral_core.ros.session_certificates import refused_or

    wanted, out = _read(namespaces or []), console()
    with fleet() as node:  # the answers are shown before the node leaves the graph, which may take seconds
        answers = node.stop(wanted, search)
        if answers:
            out.print(stop_table(answers))
        for answer in answers:
            if not answer.fault:
                command = estop_reset_command(answer.namespace)
                out.print(f"once all is safe there: {command}", markup=False, soft_wrap=True)
    if not answers:
        why = refused_or("")
        out.print(
            f"no deployment was found on this ROS_DOMAIN_ID, so none was stopped{why and f'; {why}'}",
            style="red",
            markup=False,
            soft_wrap=True,
        )
        raise typer.Exit(NOBODY)
    raise typer.Exit(1 if any(answer.fault for answer in answers) else 0)


def _show(namespaces: list[str], search_s: float, *, as_json: bool, briefly: bool) -> int:
    from rich.console import Console

    from openral_console.live.fleet_tables import list_table, status_table, values_of
    from openral_console.ros.fleet_node import fleet  # `openral --help` must not load rclpy
    from openral_core.cli.json_line import json_line
    from openral_core.cli.tables import console
    from openral_core.ros.session_certificates import refused_or

    wanted, out = _read(namespaces), console()
    with fleet() as node:
        found = node.look(search_s)
        # Here: until the node has left the graph, what was heard may have grown old.
        rows = values_of({name: robot for name, robot in found.items() if not wanted or name in wanted})
        if as_json:
            out.print(json_line(rows), markup=False, soft_wrap=True)
        elif briefly and rows:
            out.print(list_table(rows))
        else:
            for row in rows:
                out.print(status_table(row))
    missing = [name for name in wanted if name not in found]
    if missing or not rows:
        there = (
            f"there is {', '.join(sorted(found))}"
            if found
            else refused_or("start one with `openral deploy sim`")
        )
        what = f"no deployment in {', '.join(missing)}" if missing else "no deployment"
        Console(stderr=True, highlight=False, emoji=False).print(
            f"{what} was found on this ROS_DOMAIN_ID; {there}", style="red", markup=False, soft_wrap=True
        )
        return NOBODY
    return 0


def _read(namespaces: list[str]) -> list[str]:
    from openral_core.graph.namespaces import read_namespace

    return list(dict.fromkeys(read_namespace(name) for name in namespaces))
