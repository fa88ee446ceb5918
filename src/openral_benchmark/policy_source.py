"""The source of a run's policy, in a form that can be sent to the process that loads it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from openral_core.types import Policy
from openral_policy_nodes.families.factory import load_policy
from openral_rskill.registry import RSkillPackage, load_package


@dataclass(frozen=True)
class PolicySource:
    """A skill and the device that it infers on."""

    folder: Path
    """Folder of the skill, with its manifest."""
    device: str = "cpu"
    """Torch device of the inference."""
    accept_noncommercial: bool | None = None
    """Whether a noncommercial license is accepted; see `RSkillPackage`."""

    @classmethod
    def of(cls, package: RSkillPackage, device: str) -> PolicySource:
        """Return the source of an installed skill."""
        return cls(package.folder.absolute(), device, package.accept_noncommercial)

    def package(self) -> RSkillPackage:
        """Read the skill's manifest. Raises ManifestError: it is wrong."""
        return replace(load_package(self.folder), accept_noncommercial=self.accept_noncommercial)

    def load(self) -> Policy:
        """Load the policy.

        Raises:
            PolicyError: it cannot be loaded.
        """
        return load_policy(self.package(), self.device)
