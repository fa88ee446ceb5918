"""`openral rskill list|show|check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from openral_core.cli.tables import FAULT, OK, console, print_gates
from openral_core.errors import ManifestError, OpenralError

if TYPE_CHECKING:  # the schemas take 0.2 s to import, which `openral --help` need not pay
    from openral_core.contract import Finding
    from openral_core.registry import RSkillPackage
    from openral_core.scene import DeployScene

app = typer.Typer(help="List, show and check skills.", no_args_is_help=True)
Search = Annotated[
    list[Path] | None,
    typer.Option("--search", help="Folder of skills to look through first; may be repeated."),
]
Ref = Annotated[str, typer.Argument(help="Path, name, rskill://rskills/<name> or owner/rskill-name.")]


@app.command("list")
def list_(search: Search = None) -> None:
    """List the skills on this machine."""
    from openral_core.registry import load_package, skill_folders

    table = Table(box=None, pad_edge=False)
    for column in ("", "skill", "kind", "family", "licence", "does"):
        table.add_column(column)
    broken = []
    for folder in skill_folders(search or ()):
        try:
            manifest = load_package(folder).manifest
        except ManifestError as error:
            broken.append(str(error))
            table.add_row(FAULT, folder.name)
            continue
        family, does = manifest.model_family or "-", ", ".join(manifest.actions)
        table.add_row(OK, manifest.short_name, manifest.kind, family, manifest.license, does)
    console().print(
        table if table.row_count else "no skills; add a folder with an rskill.yaml, or use --search"
    )
    if broken:
        raise ManifestError("\n".join(broken))


@app.command()
def show(ref: Ref, search: Search = None) -> None:
    """Show what a skill can do, on which body, from which weights."""
    from openral_core.registry import resolve

    package = resolve(ref, search or ())
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in _facts(package):
        table.add_row(name, value.replace("[", r"\["))
    console().print(table)


@app.command()
def check(
    ref: Ref,
    scene: Annotated[
        str | None, typer.Option(help="Scene to match; default: the first deployment that names the skill.")
    ] = None,
    search: Search = None,
) -> None:
    """Check a skill against its files, its licence and a scene: one row a gate, with the mend."""
    from openral_core.contract import match, package_findings
    from openral_core.registry import resolve
    from openral_core.robot import load_robot
    from openral_core.scene import load_scene

    package = resolve(ref, search or ())
    where = load_scene(scene) if scene else _first_deployment(package)
    findings: list[Finding]
    if where is None:
        findings = package_findings(package.manifest, folder=package.folder)
    else:
        findings = match(package.manifest, load_robot(where.robot_id), where, folder=package.folder)
    rows = [("manifest", True, f"{package.manifest.name} {package.manifest.version}", "")]
    rows += [(row.gate, row.ok, row.found, row.mend) for row in findings]
    print_gates(rows)
    if not all(row.ok for row in findings):
        raise typer.Exit(1)


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
        ("weights", manifest.weights_uri or ""),
        ("chunk", f"{manifest.chunk_size} actions, {manifest.replay_steps} of them executed"),
        ("speed", f"{manifest.latency_budget.per_chunk_ms:g} ms a chunk"),
        ("scores", ", ".join(f"{name} {value:.2f}" for name, value in manifest.benchmarks.items())),
        ("folder", str(package.folder)),
    ]
    facts += [(f"task {example.task}", "; ".join(example.phrases)) for example in manifest.examples]
    return [(name, value) for name, value in facts if value]


def _first_deployment(package: RSkillPackage) -> DeployScene | None:
    """Return the first scene below scenes/deploy that deploys the skill, or None."""
    from openral_core.registry import resolve
    from openral_core.scene import load_scene
    from openral_core.share import share_directory

    for path in sorted((share_directory() / "scenes" / "deploy").glob("*.yaml")):
        try:
            scene = load_scene(path)
            refs = [*scene.skills, *([scene.reward_skill] if scene.reward_skill else [])]
            if any(resolve(ref).manifest.name == package.manifest.name for ref in refs):
                return scene
        except OpenralError:
            continue  # a broken neighbour is not this skill's fault
    return None
