"""`openral rskill`: the group of verbs, and those that only look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Table

from openral_core.cli.listing import RowListing
from openral_core.cli.tables import FAULT, OK, cell_text, console
from openral_core.errors import ManifestError, WeightsError
from openral_core.files.json_file import read_json_object
from openral_rskill.cli import author, check, hub
from openral_rskill.cli.options import Ref, Search

if TYPE_CHECKING:  # the schemas take 0.2 s to import, which `openral --help` need not pay
    from openral_rskill.registry import RSkillPackage

app = typer.Typer(help="Find, install, check and write skills.", no_args_is_help=True)


@app.command("list")
def list_(search: Search = None) -> None:
    """List the skills on this machine."""
    from openral_rskill.registry import load_package
    from openral_rskill.store.store_folders import skill_folders

    table = RowListing("", "skill", "kind", "licence", "weights", "does")
    broken = []
    for folder in skill_folders(search or ()):
        try:
            package = load_package(folder)
            where = _where(package)
        except ManifestError as error:
            broken.append(str(error))
            table.add_row(FAULT, escape(folder.name))
            continue
        manifest = package.manifest
        does = ", ".join(manifest.actions)
        told = (manifest.short_name, manifest.kind, manifest.license, where, does)
        table.add_row(OK, *map(escape, told))
    console().print(
        table if table.row_count else "no skills; add a folder with an rskill.yaml, or use --search"
    )
    if broken:
        raise ManifestError("\n".join(broken))


@app.command()
def show(ref: Ref, search: Search = None) -> None:
    """Show what a skill can do, on which body, from which weights."""
    from openral_rskill.registry import resolve

    package = resolve(ref, search or ())
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in _facts(package):
        table.add_row(name, cell_text(value))
    console().print(table)


app.command("check")(check.check)
app.command("search")(hub.search_hub)
app.command("install")(hub.install)
app.command("remove")(hub.remove)
app.command("new")(author.new)
app.command("convert")(author.convert)
app.command("schema")(author.schema)


def _where(package: RSkillPackage) -> str:
    uri = package.manifest.weights_uri
    if uri is None:
        return "-"
    if uri.startswith("local://"):
        return "here"
    locked = package.locked_weights()
    return f"installed {locked.revision[:7]}" if locked else "on the hub"


def _facts(package: RSkillPackage) -> list[tuple[str, str]]:
    manifest = package.manifest
    facts = [
        ("name", f"{manifest.name} {manifest.version}"),
        (
            "kind",
            f"{manifest.kind}, family {manifest.model_family}" if manifest.model_family else manifest.kind,
        ),
        ("about", manifest.description),
        (
            "licence",
            f"{manifest.license}{'' if manifest.is_commercial_use_allowed else ', no commercial use'}",
        ),
        ("bodies", ", ".join(manifest.embodiment_tags)),
        ("sees", ", ".join(s.vla_feature_key or s.modality for s in manifest.sensors_required)),
        ("does", ", ".join(manifest.actions)),
        ("to", ", ".join(manifest.objects)),
        ("weights", f"{manifest.weights_uri} ({_where(package)})" if manifest.weights_uri else ""),
        ("memory", ", ".join(f"{value:g} GB in {name}" for name, value in manifest.min_vram_gb.items())),
        ("chunk", f"{manifest.chunk_size} actions, {manifest.replay_steps} of them executed"),
        ("speed", f"{manifest.latency_budget.per_chunk_ms:g} ms a chunk"),
        ("scores", ", ".join(f"{name} {value:.2f}" for name, value in manifest.benchmarks.items())),
        ("records", ", ".join(_evaluations(package))),
        ("trained on", manifest.dataset_uri or ""),
        ("source", manifest.source_repo or ""),
        ("paper", manifest.paper_url or ""),
        ("folder", str(package.folder)),
    ]
    facts += [(f"task {example.task}", "; ".join(example.phrases)) for example in manifest.examples]
    return [(name, value) for name, value in facts if value]


def _evaluations(package: RSkillPackage) -> list[str]:
    """Return each evaluation beside the manifest with its status; a broken file says so and no more."""
    found = []
    for path in sorted((package.folder / "eval").glob("*.json")):
        try:
            status = str(read_json_object(path, WeightsError)["source"]["status"])
        except (WeightsError, KeyError, TypeError):
            status = "unreadable"
        found.append(f"{path.stem} {status}")
    return found
