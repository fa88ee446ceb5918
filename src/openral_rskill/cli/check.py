"""`openral rskill check`: one row a gate, the fix of each that fails, and what was taken for granted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from openral_core.cli import completion
from openral_core.cli.tables import cell_text, console, print_gates
from openral_core.errors import OpenralError
from openral_rskill.cli.options import AcceptNoncommercial, Ref, Search

if TYPE_CHECKING:
    from openral_core.scene import DeployScene
    from openral_rskill.compatibility import Finding
    from openral_rskill.registry import RSkillPackage


def check(
    ref: Ref,
    scene: Annotated[
        str | None,
        typer.Option(
            autocompletion=completion.scenes,
            help="Scene to match; default: the first deployment that names the skill.",
        ),
    ] = None,
    search: Search = None,
    device: Annotated[
        str,
        typer.Option(help="Where it is to run: cpu, cuda, cuda:<index>; default: cuda where there is one."),
    ] = "",
    accept_noncommercial: AcceptNoncommercial = False,
    lockstep: Annotated[
        bool, typer.Option("--lockstep", help="The world waits for the policy; so in scenes with a task.")
    ] = False,
    hashes: Annotated[bool, typer.Option("--hashes", help="Read every byte of fetched files, too.")] = False,
) -> None:
    """Check a skill against its files, its licence, a device and a scene: one row a gate, with the fix."""
    from openral_core.robot import load_robot
    from openral_core.scene import SimScene, load_scene
    from openral_rskill.checks.package import companions, hashes_fit, memory, stated_memory
    from openral_rskill.compatibility import match, package_findings
    from openral_rskill.manifest_assumptions import assumptions
    from openral_rskill.peak_memory import peak_of
    from openral_rskill.registry import resolve
    from openral_rskill.vram import budget, default_device

    accepted = True if accept_noncommercial else None
    package = replace(resolve(ref, search or ()), accept_noncommercial=accepted)
    manifest = package.manifest
    where = load_scene(scene) if scene else _first_deployment(package)
    findings: list[Finding]
    if where is None:
        findings = package_findings(manifest, folder=package.folder, accept_noncommercial=accepted)
    else:
        findings = match(
            manifest,
            load_robot(where.robot_id),
            where,
            folder=package.folder,
            accept_noncommercial=accepted,
            lockstep=lockstep or isinstance(where, SimScene),  # `openral sim run` waits
        )
    findings += [
        *([stated_memory(package, peak)] if (peak := peak_of(package)) is not None else []),
        memory(budget([package], device or default_device())),
        *companions(manifest, search or (), accepted),
    ]
    if hashes:
        findings += hashes_fit(package)
    rows = [("manifest", True, f"{manifest.name} {manifest.version}", "")]
    rows += [(row.gate, row.ok, _compared(row), row.fix) for row in findings]
    print_gates(rows)
    out, taken = console(), assumptions(manifest, where)
    if taken:
        out.print("\n[bold]taken for granted[/bold]")
    for row in taken:
        out.print(f"  {cell_text(row.about)}: {cell_text(row.taken)}", soft_wrap=True)
    if not all(row.ok for row in findings):
        raise typer.Exit(1)


def _compared(row: Finding) -> str:
    return row.found if row.ok else f"{row.found}, needed {row.needed}"


def _first_deployment(package: RSkillPackage) -> DeployScene | None:
    """Return the first scene below scenes/deploy that deploys the skill, or None."""
    from openral_core.files.share import share_directory
    from openral_core.scene import load_scene
    from openral_rskill.registry import resolve

    for path in sorted((share_directory() / "scenes" / "deploy").glob("*.yaml")):
        try:
            scene = load_scene(path)
            refs = [*scene.skills, *([scene.reward_skill] if scene.reward_skill else [])]
            if any(resolve(ref).manifest.name == package.manifest.name for ref in refs):
                return scene
        except OpenralError:
            continue  # a broken neighbour is not this skill's fault
    return None
