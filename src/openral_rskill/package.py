"""A skill on this machine: its manifest, its folder, and access to its weights after the licence gate."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from openral_core.errors import ManifestError, NotFoundError, WeightsError
from openral_core.files.share import share_directory
from openral_core.manifest import MANIFEST_NAME, RSkillManifest
from openral_core.manifest.runtime import LOCAL
from openral_core.schema import inside
from openral_rskill.license import check_license
from openral_rskill.safetensors_check import SUFFIX, weights_fault
from openral_rskill.store.lockfile import LockedRepository, faults
from openral_rskill.store.repo_id import HUB, HubReference
from openral_rskill.store.store_folders import find_lock, installed_skills, snapshot
from openral_rskill.weights_files import checkpoint_faults, is_pickled, pickle_refusal

_LOADED = f"model{SUFFIX}"
"""The file that the loaders of a checkpoint's folder read."""


@dataclass(frozen=True)
class RSkillPackage:
    """A manifest and its folder."""

    manifest: RSkillManifest
    folder: Path
    accept_noncommercial: bool | None = None
    """The operator's decision about the licence; None: the environment's (`openral_rskill.license`)."""

    @property
    def slug(self) -> str:
        """The skill's name in the form of ROS topic and node names: `mini-metaworld` -> `mini_metaworld`."""
        word = re.sub(r"[^a-z0-9]+", "_", self.manifest.short_name.lower()).strip("_") or "skill"
        return word if word[0].isalpha() else f"skill_{word}"

    @property
    def reference(self) -> str:
        """The name or path that refers to this skill on a command line."""
        known = (share_directory() / "rskills", installed_skills())
        return self.manifest.short_name if self.folder.parent in known else str(self.folder)

    def require_license(self) -> None:
        """Pass the licence gate. Raises LicenseError as `openral_rskill.license.check_license` does."""
        check_license(self.manifest, folder=self.folder, accept_noncommercial=self.accept_noncommercial)

    def weights_path(self) -> Path:
        """Return the one safetensors file of the weights, past the licence gate.

        Raises:
            LicenseError: the gate refuses.
            NotFoundError: the manifest names no weights, they are not installed, or the file is not there.
            ManifestError: the file lies outside the folder.
            WeightsError: it is a pickle, altered, or not whole; or there are several, of which a loader takes another.
        """
        uri = self._weights_uri()
        if uri.startswith(LOCAL) and uri.endswith(SUFFIX):
            return self._local_path(uri)
        folder = self.checkpoint()
        if (folder / _LOADED).is_file():  # beside it may lie the statistics of processors
            return folder / _LOADED
        files = sorted(folder.glob(f"*{SUFFIX}"))
        if len(files) != 1:
            raise WeightsError(
                f"{self.folder / MANIFEST_NAME}: {uri} holds {len(files)} {SUFFIX} files; name one"
            )
        return files[0]

    def checkpoint(self) -> Path:
        """Return the folder of the checkpoint: weights, configuration, tokenizer; past the licence gate.

        Raises:
            LicenseError: the gate refuses.
            NotFoundError: there are no weights, or they are not installed.
            ManifestError: they lie outside the skill's folder.
            WeightsError: they are pickles, altered, or not whole.
        """
        uri = self._weights_uri()
        if uri.startswith(LOCAL):
            path = self._local_path(uri)
            return path if path.is_dir() else path.parent
        locked = self.locked_weights()
        if locked is None:
            raise NotFoundError(
                f"{self.manifest.name}: its weights ({uri}) are not on this machine; "
                f"openral rskill install {self.reference}"
            )
        folder = snapshot(locked.reference)
        found = [*faults(locked.files, folder, hashes=False)] or checkpoint_faults(folder)
        if found:
            raise WeightsError(f"{folder}: {found[0]}; openral rskill install {self.reference}")
        check_license(self.manifest, folder=folder, accept_noncommercial=self.accept_noncommercial)
        return folder

    def locked_weights(self) -> LockedRepository | None:
        """Return the locked repository of the skill's weights on the hub; None: there is none for these weights."""
        uri = self.manifest.weights_uri or ""
        lock = find_lock(self.manifest.name, self.folder) if uri.startswith(HUB) else None
        if lock is None or lock.weights is None:
            return None
        wanted, locked = HubReference.parse(uri), lock.weights
        fits = locked.repository == wanted.repository and wanted.revision in (
            locked.requested,
            locked.revision,
        )
        return locked if fits else None

    def weights_bytes(self) -> int | None:
        """Return the size of the weights [byte], or None if they are not on this machine. It opens no file."""
        uri = self.manifest.weights_uri or ""
        locked = self.locked_weights()
        if locked is not None:
            return sum(entry.size for name, entry in locked.files.items() if name.endswith(SUFFIX))
        path = inside(self.folder, uri.removeprefix(LOCAL)) if uri.startswith(LOCAL) else None
        if path is None or not path.exists():
            return None
        files = path.rglob(f"*{SUFFIX}") if path.is_dir() else [path]
        return sum(file.stat().st_size for file in files if file.exists())  # a link may lead nowhere

    def _weights_uri(self) -> str:
        if self.manifest.weights_uri is None:
            raise NotFoundError(
                f"{self.folder / MANIFEST_NAME}: a skill of kind {self.manifest.kind} has no weights"
            )
        self.require_license()
        return self.manifest.weights_uri

    def _local_path(self, uri: str) -> Path:
        place = f"{self.folder / MANIFEST_NAME}: weights_uri"
        path = inside(self.folder, uri.removeprefix(LOCAL))
        if path is None:
            raise ManifestError(f"{place}: {uri} leaves the folder; put the file beside {MANIFEST_NAME}")
        if not os.path.exists(path):
            raise NotFoundError(f"{place}: {path.name} is not there; fetch or train the weights")
        if path.is_dir():
            found = checkpoint_faults(path)
            if found:
                raise WeightsError(f"{place}: {found[0]}")
            return path
        fault = weights_fault(path)
        if fault and is_pickled(path):
            raise WeightsError(f"{place}: {pickle_refusal(path.name, str(path))}")
        if fault:
            raise WeightsError(f"{place}: {fault}; fetch the file again as safetensors")
        if path.name != _LOADED and os.path.exists(path.parent / _LOADED):
            raise WeightsError(
                f"{place}: beside {path.name} is {_LOADED}, which loaders take in its place; move one of them away"
            )
        return path
