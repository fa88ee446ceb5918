"""`openral rskill search|install|remove`: skills and weights of a hub."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from openral_core.cli import numbers
from openral_core.cli.downloads import download_bars
from openral_core.cli.tables import cell_text, console
from openral_core.errors import HubError
from openral_rskill.cli.options import AcceptNoncommercial, Ref, Search


def search_hub(
    words: Annotated[str, typer.Argument(help="Words of the name; empty: all rSkills.")] = "",
    limit: Annotated[int, numbers.count("Rows at most.")] = 20,
) -> None:
    """Search skills on this machine and on the hub."""
    from openral_rskill.hub.client import HubClient
    from openral_rskill.registry import list_skills

    table = Table(box=None, pad_edge=False)
    for column in ("where", "skill", "licence", "downloads"):
        table.add_column(column)
    for package in list_skills():
        manifest = package.manifest
        text = f"{manifest.name} {manifest.description}".lower()
        if all(word in text for word in words.lower().split()):
            table.add_row("here", manifest.name, manifest.license, "")
    unreachable = ""
    try:
        for found in HubClient().search(words, limit):
            table.add_row("hub", cell_text(found.repository), cell_text(found.license), str(found.downloads))
    except HubError as error:
        unreachable = str(error)
    console().print(table if table.row_count else "nothing was found")
    if unreachable:
        console().print(f"[yellow]hub not searched[/yellow]: {cell_text(unreachable)}", soft_wrap=True)


def install(
    ref: Ref,
    search: Search = None,
    update: Annotated[
        bool, typer.Option("--update", help="Take what is new instead of what the lock pins.")
    ] = False,
    accept_noncommercial: AcceptNoncommercial = False,
) -> None:
    """Fetch what a skill needs: pinned to a commit, hashed, continued where it broke off."""
    from openral_rskill.hub.install import install as fetch

    with download_bars(console()) as progress:
        installed = fetch(
            ref,
            search=search or (),
            accept_noncommercial=True if accept_noncommercial else None,
            update=update,
            progress=progress,
        )
    lock, out = installed.lock, console()
    for locked in (lock.manifest, lock.weights, *lock.extra):
        if locked is not None:
            size = sum(file.size for file in locked.files.values())
            out.print(
                f"{locked.repository} at {locked.revision[:12]}: {len(locked.files)} files, {size / 1e6:.1f} MB"
            )
    out.print(
        f"{installed.package.manifest.name} is ready: {installed.package.folder}",
        markup=False,
        soft_wrap=True,
    )


def remove(ref: Ref) -> None:
    """Delete what was fetched for a skill, and the weights that no other skill needs."""
    from openral_rskill.hub.remove import remove as delete

    for folder in delete(ref):
        console().print(f"removed {folder}", markup=False, soft_wrap=True)
