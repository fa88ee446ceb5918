"""Build hook: type stubs of the bundled interface packages go into the wheel; see ros2_embedded.stubs."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class StubsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Generates the stubs into a temporary directory, so that no generated file lies in the source tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate, and have the builder include them; `version` is `standard` or `editable`."""
        sys.path.insert(0, str(Path(self.root) / "src"))
        try:
            from ros2_embedded.stubs import bundled_packages, write_stubs
        finally:
            sys.path.pop(0)
        self._directory = TemporaryDirectory()
        root = Path(self._directory.name)
        packages = bundled_packages()
        write_stubs(packages, root, "-stubs")
        stubs = {str(root / f"{package}-stubs"): f"{package}-stubs" for package in packages}
        build_data["force_include"].update(stubs)
        if version == "editable":  # the builder takes this instead of everything that is otherwise included
            start_up = str(Path(self.root) / "ros2_embedded.pth")
            build_data["force_include_editable"] = {start_up: "ros2_embedded.pth", **stubs}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary directory."""
        self._directory.cleanup()
