"""Gates for a skill's package: runtime, family, licence, weights, memory, companions and evaluated tasks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from openral_core.errors import LicenseError, OpenralError, WeightsError, nearest
from openral_core.files.json_file import read_json_object
from openral_core.manifest import RSkillManifest
from openral_core.manifest.family_rules import known_families, server_elsewhere
from openral_core.manifest.runtime import LOCAL
from openral_core.scene import DeployScene
from openral_rskill.checks.finding import Finding
from openral_rskill.license import check_license, is_evaluated
from openral_rskill.peak_memory import PeakMemory
from openral_rskill.registry import RSkillPackage, resolve
from openral_rskill.safetensors_check import SUFFIX
from openral_rskill.store.lockfile import LOCK_NAME, SkillLock, faults
from openral_rskill.store.skill_files import is_small
from openral_rskill.store.store_folders import find_lock, snapshot
from openral_rskill.vram import Budget

RUNTIMES = ("pytorch",)
"""Runtimes that openral's families use."""
_CONFIG = "config.json"
_UNDEPLOYED = ("wam",)
"""Kinds whose manifests are valid but which openral cannot run."""


def runtime(manifest: RSkillManifest) -> Finding:
    """Check that openral supports the skill's runtime and kind."""
    runs = manifest.runtime in RUNTIMES and manifest.kind not in _UNDEPLOYED
    found = f"{', '.join(RUNTIMES)} for every kind but {', '.join(_UNDEPLOYED)}"
    fix = "take the checkpoint's pytorch weights; openral runs no others"
    return Finding.of("runtime", runs, found, f"{manifest.runtime}, kind {manifest.kind}", fix)


def family(manifest: RSkillManifest) -> Finding:
    """Check that the code of the skill's model family is installed."""
    known = known_families()
    like = nearest(str(manifest.model_family), known)
    fix = f"did you mean '{like}'? Else install" if like else "install"
    fix += " the distribution that brings it"
    name = str(manifest.model_family)
    return Finding.of("family", name in known, name if name in known else ", ".join(known), name, fix)


def server(manifest: RSkillManifest) -> Finding:
    """Check that a policy which somebody else serves says where; whether a server answers there is not asked."""
    url = str(manifest.policy_extras.get("url") or "")
    fix = "write it, such as ws://127.0.0.1:8000, or run a benchmark with --contract and --policy-url"
    return Finding.of("server", bool(url), url or "no address", "policy_extras.url", fix)


def license_(manifest: RSkillManifest, folder: Path | None, accept_noncommercial: bool | None) -> Finding:
    """Check that the licence of the weights allows commercial use, or that its terms were accepted."""
    needed = "commercial use, or its terms accepted"
    try:
        check_license(manifest, folder=folder, accept_noncommercial=accept_noncommercial)
    except LicenseError as error:
        fix = str(error)
        if manifest.license == "unknown":
            fix += "; if the weights are your own, write their license: into rskill.yaml"
        return Finding("licence", False, manifest.license, needed, fix)
    return Finding("licence", True, manifest.license, needed)


def weights(package: RSkillPackage) -> Finding:
    """Check that the weights are on this machine, as complete safetensors files with a readable configuration.

    Call it only after the licence gate has passed.
    """
    needed = "whole safetensors files"
    elsewhere = server_elsewhere(package.manifest.model_family)
    if elsewhere is not None:
        return Finding("weights", True, f"with the server that runs ({elsewhere})", needed)
    try:
        folder = package.checkpoint()
        if package.manifest.model_family == "mini" or os.path.lexists(folder / _CONFIG):
            read_json_object(folder / _CONFIG, WeightsError)
    except OpenralError as error:
        return Finding("weights", False, str(package.manifest.weights_uri), needed, str(error))
    size = sum(path.stat().st_size for path in folder.rglob("*.safetensors"))
    return Finding("weights", True, f"{package.manifest.weights_uri}, {size / 1e6:.1f} MB", needed)


def hashes_fit(package: RSkillPackage) -> Iterator[Finding]:
    """Check the hashes of all downloaded files against the skill's lock; weights without a lock fail."""
    lock = find_lock(package.manifest.name, package.folder)
    fix = f"openral rskill install {package.reference}"
    manifest = lock.manifest if lock else None
    for locked in (manifest, lock.weights, *lock.extra) if lock else ():
        if locked is not None:
            folder = package.folder if locked is manifest else snapshot(locked.reference)
            fault = next(faults(locked.files, folder, hashes=True), None)
            found = fault or f"{len(locked.files)} files at {locked.revision[:12]}"
            small = {name: entry for name, entry in locked.files.items() if is_small(name)}
            is_text = locked is manifest and any(faults(small, folder, hashes=True))
            anew = f"{fix} --update fetches it anew, or leave it if it is your own"
            yield Finding.of(
                f"hashes {locked.repository}",
                fault is None,
                found,
                "as in the lock",
                anew if is_text else fix,
            )
    if not _is_hashed(package, lock):
        found = f"not hashed: no {LOCK_NAME} says what the weights were"
        fix = (
            "install the skill from a hub, which writes one, or compare `sha256sum` with its maker's by hand"
        )
        yield Finding("hashes", False, found, "as in the lock", fix)


def _is_hashed(package: RSkillPackage, lock: SkillLock | None) -> bool:
    """Return whether the lock has the hashes of a skill's weights, or there are no weights on this machine to hash."""
    manifest = package.manifest
    if manifest.weights_uri is None or server_elsewhere(manifest.model_family) is not None:
        return True
    if not manifest.weights_uri.startswith(LOCAL):
        return package.locked_weights() is not None
    beside = lock.manifest if lock else None
    return beside is not None and any(name.endswith(SUFFIX) for name in beside.files)


def companions(
    manifest: RSkillManifest, search: Sequence[Path], accept_noncommercial: bool | None
) -> Iterator[Finding]:
    """Check that the skills that the manifest names exist, are of the right kind, and pass the licence gate."""
    named = {
        "fallback skill": (manifest.fallback_skill_id, manifest.kind),
        "reward skill": (manifest.reward_rskill_name, "reward"),
    }
    for gate, (name, kind) in named.items():
        if name is None:
            continue
        needed = f"a skill of kind {kind} that may be run"
        try:
            other = replace(resolve(name, search), accept_noncommercial=accept_noncommercial)
            other.require_license()
        except OpenralError as error:
            yield Finding(gate, False, name, needed, str(error))
            continue
        found = f"{name}, kind {other.manifest.kind}"
        yield Finding.of(gate, other.manifest.kind == kind, found, needed, f"name a skill of kind {kind}")


def stated_memory(package: RSkillPackage, peak: PeakMemory) -> Finding:
    """Check that the manifest's `min_vram_gb` is at least the peak computed from the shapes of the weights."""
    dtype, stated = package.manifest.quantization.dtype, package.manifest.min_vram_gb
    said = f"min_vram_gb {dtype} {stated[dtype]:.3g}" if dtype in stated else f"no min_vram_gb for {dtype}"
    fits = dtype in stated and peak.gb <= stated[dtype]
    fix = f"write min_vram_gb: {{{dtype}: {peak.stated_gb:.1f}}}"
    return Finding.of("stated memory", fits, said, str(peak), fix)


def memory(found: Budget) -> Finding:
    """Check that the accelerator has enough free memory."""
    return Finding.of("accelerator memory", found.fits, found.found, found.needed, found.fix)


def is_known(manifest: RSkillManifest, scene: DeployScene, task: str = "") -> bool:
    """Return whether the skill was evaluated on `task`, or, if that is empty, on at least one of the scene's tasks.

    One task is enough, since several skills may share a deployment.
    """
    return any(is_evaluated(manifest.evaluated_tasks, name, scene.scene.id) for name in _offered(scene, task))


def tasks(manifest: RSkillManifest, scene: DeployScene, task: str, allow_unevaluated: bool) -> Finding:
    """Check that the skill was evaluated on the task, or on at least one task of the scene; see `is_known`."""
    known = is_known(manifest, scene, task)
    found = ", ".join(_offered(scene, task))
    if not known and allow_unevaluated:
        found += " (not evaluated there, allowed by the operator)"
    needed = ", ".join(manifest.evaluated_tasks) or "any (none stated)"
    fix = (
        "choose a scene it was evaluated on, evaluate it here and add the task to evaluated_tasks, "
        "or run it with --allow-unevaluated"
    )
    return Finding.of("evaluated tasks", known or allow_unevaluated, found, needed, fix)


def _offered(scene: DeployScene, task: str) -> tuple[str, ...]:
    """Return the scene's tasks that match `task`, or all of them if none does; the scene's id if it has no tasks."""
    chosen = [name for name in scene.task_ids if task and (name == task or name.endswith(f"/{task}"))]
    return tuple(chosen) or scene.task_ids or (scene.scene.id,)
