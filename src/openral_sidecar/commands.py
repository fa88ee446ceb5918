"""`openral sidecar list|build|start|stop|logs|prune`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from openral_core.cli import numbers
from openral_core.cli.printable import printable
from openral_core.cli.tables import FAULT, OK, console
from openral_core.errors import SidecarError, UsageError

app = typer.Typer(
    help="Build, start and stop the servers of models that cannot live with ours.", no_args_is_help=True
)
Name = Annotated[str, typer.Argument(help="Name of the sidecar; `openral sidecar list` has them.")]
Source = Annotated[
    Path | None, typer.Option(help="Folder with upstream's code, instead of where the sidecar takes it from.")
]
Target = Annotated[str | None, typer.Argument(help="Port of a server, or name of a sidecar.")]


@app.command("list")
def list_(as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False) -> None:
    """List the sidecars, their environments, and the servers that run."""
    from openral_sidecar.environment.build import environment_folder, is_built
    from openral_sidecar.sidecar_inventory import running, size_of
    from openral_sidecar.table import sidecar_names, sidecar_spec

    rows: list[dict[str, Any]] = []
    servers = [
        {"name": s.spec, "port": s.port, "pid": s.pid, "model": str(s.identity)} for s in running(None)
    ]
    for name in sidecar_names():
        try:
            spec = sidecar_spec(name)
        except SidecarError as error:
            rows.append({"name": name, "error": str(error)})
            continue
        folder = environment_folder(spec) if is_built(spec) else None
        rows.append(
            {
                "name": name,
                "python": spec.python,
                "about": spec.description,
                "environment": folder and str(folder),
                "bytes": size_of(folder) if folder else 0,
            }
        )
    if as_json:
        typer.echo(json.dumps({"sidecars": rows, "servers": servers}, indent=2))
        return
    table = Table("", "sidecar", "python", "environment", "about", box=None, pad_edge=False)
    for row in rows:
        if "error" in row:
            table.add_row(FAULT, row["name"], "", "", escape(row["error"]))
        else:
            built = f"{row['bytes'] / 2**20:.0f} MiB" if row["environment"] else "not built"
            table.add_row(OK, row["name"], row["python"], built, escape(row["about"]))
    console().print(table)
    for server in servers:
        line = "{name} at port {port}, pid {pid}: {model}".format(**server)
        console().print(escape(line), soft_wrap=True)


@app.command()
def build(name: Name, source: Source = None) -> None:
    """Build the environment of a sidecar; one that was built before is left as it is."""
    from openral_sidecar.environment.build import ensure_environment
    from openral_sidecar.table import sidecar_spec

    python = ensure_environment(sidecar_spec(name), source=source, progress=typer.echo)
    typer.echo(str(python))


@app.command(context_settings={"ignore_unknown_options": True})
def start(
    name: Name,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="The family's own arguments, after `--`, such as `-- --checkpoint x`."),
    ] = None,
    source: Source = None,
    python: Annotated[
        Path | None, typer.Option(help="Interpreter to run, instead of an environment of the sidecar's own.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; clients need the server's token.")
    ] = "127.0.0.1",
    port: Annotated[int, numbers.port()] = 0,
    boot_timeout: Annotated[float, numbers.seconds("How long loading the model may take [s].")] = 900.0,
) -> None:
    """Start a server that stays until `openral sidecar stop`; skills that ask for the same model use it."""
    from openral_rskill.license import check_checkpoint_license
    from openral_sidecar.environment.build import ensure_environment
    from openral_sidecar.process import ServerProcess
    from openral_sidecar.server_argument_check import check_arguments
    from openral_sidecar.table import sidecar_spec

    spec = sidecar_spec(name).with_source(source)
    check_arguments(spec, arguments or [])
    for weights in _weights(arguments or []):
        check_checkpoint_license(weights)
    python = python or ensure_environment(spec, progress=typer.echo)
    process = ServerProcess(spec, python, arguments or [], host=host, port=port, tied=False)
    try:
        server = process.wait_ready(f"sidecar {name}", boot_timeout)
    except BaseException:
        process.end(at_once=True)
        raise
    typer.echo(f"{name} serves {server.identity} at {server.host}:{server.port}, pid {server.pid}")
    typer.echo(f"token {server.token_file}\nlog {server.log}")


def _weights(arguments: list[str]) -> list[str]:
    """Return the checkpoints that a server's arguments name, by the names that our families give them."""
    known = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    known.add_argument("--model", action="append", default=[])
    known.add_argument("--checkpoint", action="append", default=[])
    found = known.parse_known_args(arguments)[0]
    return [*found.model, *found.checkpoint]


@app.command("stop")
def stop_(
    target: Target = None,
    everything: Annotated[bool, typer.Option("--all", help="Stop every server.")] = False,
) -> None:
    """Stop servers, whoever started them; a skill that uses one starts another."""
    from openral_sidecar.sidecar_inventory import running, stop

    if target is None and not everything:
        raise UsageError("which server? give a port or a sidecar's name, or --all")
    for server in running(None if everything else target):
        stop(server)
        typer.echo(f"stopped {server.spec or server.identity.model} at port {server.port}, pid {server.pid}")


@app.command()
def logs(
    target: Target = None,
    lines: Annotated[int, numbers.count("How many of the last lines.", "--lines", "-n")] = 40,
) -> None:
    """Print the end of a server's log: of the one at a port, or else of the newest of a sidecar or of all."""
    from openral_core.files.bounded_log import log_text
    from openral_sidecar.sidecar_inventory import log_of

    path = log_of(target)
    typer.echo(f"{path}:")
    for line in log_text(path).removesuffix("\n").split("\n")[-lines:]:
        typer.echo(printable(line))


@app.command()
def prune(
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also the environments that are in order; they are built again when needed."
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Throw away environments that no sidecar asks for, old logs, and what servers that were killed have left."""
    from openral_sidecar.sidecar_inventory import delete, disposable, size_of

    total = 0
    for path in disposable(everything=everything):
        size = size_of(path)
        if dry_run or delete(path):
            total += size
            typer.echo(f"{'would remove' if dry_run else 'removed'} {path}")
        else:
            typer.echo(f"kept {path}: it is being built")
    typer.echo(f"{total / 2**20:.1f} MiB")
