"""A policy on an external server as a skill: its contract, with the server's address, in the folder of the run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import yaml

from openral_benchmark.row_log import FILE_NAME
from openral_core.errors import ManifestError, PolicyError, SidecarError
from openral_core.files.atomic import write_atomically
from openral_core.files.named_files import find_file
from openral_core.files.output_folder import make_private
from openral_core.files.yaml_document import read_document
from openral_core.manifest import MANIFEST_NAME
from openral_policy_nodes.families.external.address import parse_url
from openral_policy_nodes.families.external.link import probe
from openral_policy_nodes.families.external.names import names_from
from openral_rskill.registry import RSkillPackage, load_package

PATTERNS = ("suites/contracts/{}.yaml",)
FAMILY = "external"


def served_skill(contract: str, url: str, folder: Path) -> RSkillPackage:
    """Return the skill that a contract and an address make, and keep it as `contract/rskill.yaml` in a run's folder.

    Args:
        contract: name of a contract that ships, an rskill.yaml of family `external`, or its folder.
        url: address of the server; empty: that of the contract.
        folder: of the run.

    Raises:
        NotFoundError: no such contract.
        ManifestError: it is wrong, or the folder holds rows of a run with another contract or address.
        PolicyError: it is of another family, its names are inconsistent, or the address is not allowed.
    """
    path = find_file(_file(contract), "contract", PATTERNS)
    package = load_package(path)
    manifest = package.manifest
    if manifest.model_family != FAMILY:
        raise PolicyError(
            f"{path}: model_family is {manifest.model_family}; a contract says `model_family: {FAMILY}`, or leave "
            "--policy-url out and let openral load the skill"
        )
    address = parse_url(url or names_from(manifest).url)
    content: dict[str, Any] = read_document(path).data
    extras = {**content["policy_extras"], "url": address.url}
    kept = folder / "contract"
    text = yaml.safe_dump({**content, "policy_extras": extras}, sort_keys=False, allow_unicode=True)
    _keep_that_of_rows(folder, kept / MANIFEST_NAME, text)
    make_private(folder)
    kept.mkdir(exist_ok=True)
    write_atomically(kept / MANIFEST_NAME, text)
    return load_package(kept)


def _keep_that_of_rows(folder: Path, kept: Path, text: str) -> None:
    """Raise ManifestError if the folder holds rows and the contract that they were run with is another one.

    That run may be at work, and reads its contract again where it restarts the policy.
    """
    rows = folder / FILE_NAME
    if rows.is_file() and kept.is_file() and kept.read_text(encoding="utf-8") != text:
        raise ManifestError(
            f"{rows}: these rows are of another run: other contract or --policy-url; name another --out"
        )


def server_says(package: RSkillPackage) -> dict[str, Any] | None:
    """Return the address and the description of a skill's server; None for skills that openral loads itself.

    Raises:
        PolicyError: no server answers there, or one of another protocol.
    """
    if package.manifest.model_family != FAMILY:
        return None
    address = parse_url(names_from(package.manifest).url)
    try:
        said = probe(address)
    except SidecarError as error:
        raise PolicyError(f"{package.manifest.name}: {error}") from error
    return {"url": address.url, "says": {str(key): _plain(value) for key, value in said.items()}}


def _file(contract: str) -> str:
    folder = Path(contract)
    return str(folder / MANIFEST_NAME) if folder.is_dir() else contract


def _plain(value: object) -> object:
    """Return a value of the server's description as JSON can hold it, text of at most 200 characters."""
    if isinstance(value, float) and math.isfinite(value):
        return value
    return value if isinstance(value, (int, type(None))) else str(value)[:200]
