"""A skill in a Python program: find or fetch it, look at its manifest, load it.

pkg = rSkill.from_pretrained("OpenRAL/rskill-rldx1-ft-libero-nf4")
pkg.manifest.is_commercial_use_allowed
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from openral_core.errors import NotFoundError
from openral_rskill.hub.install import install
from openral_rskill.registry import RSkillPackage, load_package, resolve

__all__ = ["rSkill"]


class rSkill(RSkillPackage):
    """A manifest, its folder, and the way to its weights; see `openral_rskill.registry.RSkillPackage`."""

    @classmethod
    def from_pretrained(
        cls, ref: str, *, update: bool = False, accept_noncommercial: bool | None = None
    ) -> rSkill:
        """Find a skill, fetch what is missing of it, and return it past the licence gate.

        Args:
            ref: path, name, `rskill://rskills/<name>`, `owner/rskill-name` or `hf://owner/name[@revision]`.
            update: take what is new on the hub instead of what was pinned.
            accept_noncommercial: your use is non-commercial and meets the licence's terms; None: the environment
                says so with OPENRAL_ACCEPT_NONCOMMERCIAL=1.

        Raises:
            LicenseError: the gate refuses; nothing of the weights was fetched.
            OpenralError: it cannot be found, fetched or read.
        """
        package = install(ref, update=update, accept_noncommercial=accept_noncommercial).package
        return cls._of(package)

    @classmethod
    def from_yaml(cls, path: str | Path, *, accept_noncommercial: bool | None = None) -> rSkill:
        """Read a skill of this machine: a path of `rskill.yaml` or its folder, absolute, or below openral's data.

        Nothing is fetched, and nothing of the weights is opened before `checkpoint()`.

        Raises:
            NotFoundError: it is not there.
            ManifestError: the manifest is wrong.
        """
        place = Path(path)
        if not place.exists():
            # `rskills/<name>/rskill.yaml` from any working directory, as in the makers' examples.
            name = place.parent.name if place.suffix in (".yaml", ".yml") else place.name
            if place.is_absolute() or place.parts[:1] != ("rskills",):
                raise NotFoundError(f"{path} is not there; name an rskill.yaml or its folder")
            return cls._of(replace(resolve(name), accept_noncommercial=accept_noncommercial))
        return cls._of(replace(load_package(place), accept_noncommercial=accept_noncommercial))

    @classmethod
    def _of(cls, package: RSkillPackage) -> rSkill:
        return cls(package.manifest, package.folder, package.accept_noncommercial)
