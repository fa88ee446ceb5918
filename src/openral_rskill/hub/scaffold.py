"""`openral rskill new`: a complete skill folder from a checkpoint, on this machine or on the hub."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import get_args

from openral_core.errors import NotFoundError, UsageError, WeightsError
from openral_core.manifest import MANIFEST_NAME
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_core.vocabulary import License
from openral_rskill.hub.client import HubClient
from openral_rskill.hub.download import fetch
from openral_rskill.hub.install import require_small
from openral_rskill.hub.lerobot_config import CONFIG, POSTPROCESSOR, PREPROCESSOR, read_policy
from openral_rskill.hub.manifest_text import Draft, manifest_text
from openral_rskill.peak_memory import peak_of
from openral_rskill.registry import RSkillPackage, load_package
from openral_rskill.safetensors_check import SUFFIX
from openral_rskill.store.repo_id import HUB, HubReference
from openral_rskill.weights_files import checkpoint_faults, select

CHECKPOINT = "checkpoint"
"""Folder of the new skill that holds the files of a checkpoint on this machine."""
_SMALL = (CONFIG, PREPROCESSOR, POSTPROCESSOR, "README.md")
_DTYPES = {"F32": "fp32", "F16": "fp16", "BF16": "bf16"}
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


@dataclass(frozen=True)
class Choices:
    """Settings of a new skill that the checkpoint does not determine."""

    owner: str = "local"
    """First half of the skill's name."""
    embodiment: str | None = None
    """Body; None: that of the scene's robot."""
    scene: DeployScene | None = None
    """Scene that it is to fit: gives the camera keys, what an action means, and how fast they come."""
    license: str | None = None
    """Licence of the weights; None: what the checkpoint's card says."""


def new_skill(source: str, target: Path, choices: Choices, client: HubClient | None = None) -> RSkillPackage:
    """Write `rskill.yaml`, README.md and eval/ for a checkpoint.

    A checkpoint on this machine is brought into the folder (as hard links, where the disk can); one on the hub stays
    there, pinned to its commit, until `openral rskill install`.

    Args:
        source: folder of a LeRobot policy, or `hf://owner/repository[@revision]`.
        target: the new folder; its name becomes the skill's.
        choices: what the checkpoint cannot say.
        client: of the hub; None: the one that the environment describes.

    Raises:
        UsageError: no body was named.
        NotFoundError: there is no such checkpoint.
        HubError: the hub did not give it.
        WeightsError: it is no policy that openral has a family for, or holds pickles.
        ManifestError: what came out is no valid manifest.
    """
    if target.exists():
        raise WeightsError(f"{target} is there already; name another folder")
    embodiment = choices.embodiment
    if embodiment is None and choices.scene is not None:
        embodiment = load_robot(choices.scene.robot_id).embodiment_tags[0]
    if embodiment is None:
        raise UsageError("which body is it for? write --scene, or --embodiment such as franka_panda")
    with _small_files(source, client) as (folder, reference):
        facts = read_policy(folder)
        draft = Draft(
            name=f"{choices.owner}/rskill-{target.name}",
            license=choices.license or _card_license(folder / "README.md"),
            embodiment=embodiment,
            weights_uri=str(reference) if reference else f"local://{CHECKPOINT}",
            processors=f"{HUB}{reference.repository}/" if reference else f"local://{CHECKPOINT}/",
            dtype="fp32" if reference else _stored_dtype(folder),
            source_repo=f"{HUB}{reference.repository}" if reference else None,
            facts=facts,
            scene=choices.scene,
        )
    target.mkdir(parents=True)
    try:
        if reference is None:
            _bring(Path(source), target / CHECKPOINT)
        (target / MANIFEST_NAME).write_text(manifest_text(draft), encoding="utf-8")
        (target / "README.md").write_text(_readme(target.name, draft), encoding="utf-8")
        (target / "eval").mkdir()
        (target / "eval" / "not_run.json").write_text(_evaluation(draft), encoding="utf-8")
        return _with_memory(load_package(target))
    except BaseException:  # also Ctrl-C, as while gigabytes are copied
        shutil.rmtree(target)
        raise


@contextlib.contextmanager
def _small_files(source: str, client: HubClient | None) -> Iterator[tuple[Path, HubReference | None]]:
    """The configuration of a checkpoint: its own folder, or fetched into one that is gone afterwards."""
    if not source.startswith(HUB):
        folder = Path(source)
        if not folder.is_dir():
            raise NotFoundError(f"{source} is no folder; name a checkpoint's folder or {HUB}owner/repository")
        faults = checkpoint_faults(folder)
        if faults:
            raise WeightsError(f"{folder}: {faults[0]}")
        yield folder, None
        return
    client = client or HubClient()
    listing = client.listing(HubReference.parse(source))
    select([file.path for file in listing.files])
    with tempfile.TemporaryDirectory(prefix="openral-") as name:
        for file in listing.files:
            if file.path in _SMALL:
                require_small(listing.reference, file)
                fetch(client, listing.reference, file, Path(name) / file.path, lambda *step: None)
        yield Path(name), listing.reference


def _bring(source: Path, target: Path) -> None:
    """Hard-link a checkpoint's files into the skill's folder, or copy them if that is not possible."""
    names = [path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()]
    for name in select(names):
        place = target / PurePosixPath(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link((source / name).resolve(), place)
        except OSError:  # another disk, or one without hard links
            shutil.copy2(source / name, place)


def _with_memory(package: RSkillPackage) -> RSkillPackage:
    """State the peak of accelerator memory in a new manifest, where it can be computed from weights that are here."""
    peak = peak_of(package)
    if peak is None:
        return package
    with (package.folder / MANIFEST_NAME).open("a", encoding="utf-8") as file:
        file.write(f"min_vram_gb: {{{package.manifest.quantization.dtype}: {peak.stated_gb:.1f}}}\n")
    return load_package(package.folder)


def _stored_dtype(folder: Path) -> str:
    """Return the number format that most tensors are stored in."""
    counts: Counter[str] = Counter()
    for path in folder.glob(f"*{SUFFIX}"):
        with path.open("rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        counts.update(entry["dtype"] for name, entry in header.items() if name != "__metadata__")
    return _DTYPES.get(counts.most_common(1)[0][0], "fp32") if counts else "fp32"


def _card_license(readme: Path) -> str:
    """Return the licence that the front matter of a model card states, as far as openral knows it."""
    try:
        found = _FRONT_MATTER.match(readme.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return "unknown"
    for line in found[1].splitlines() if found else ():
        name, _, value = line.partition(":")
        if name == "license":
            word = value.strip().strip("'\"").lower()
            word = "bsd" if word.startswith("bsd") else word
            return word if word in get_args(License) else "unknown"
    return "unknown"


def _readme(title: str, draft: Draft) -> str:
    return (
        f"# {title}\n\n"
        f"A policy of the {draft.facts.family} family for {draft.embodiment}; weights: {draft.weights_uri}, licence "
        f"{draft.license}.\n\nIt has not been evaluated: `eval/not_run.json` says so.\n"
    )


def _evaluation(draft: Draft) -> str:
    source = {"status": "deferred", "reproduced_locally": False, "reproduction_planned": True}
    content = {
        "schema_version": "0.1",
        "source": source,
        "eval_config": {"weights_uri": draft.weights_uri},
        "results": {},
    }
    return json.dumps(content, indent=2) + "\n"
