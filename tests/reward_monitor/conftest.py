"""A reward skill of the fake family, written as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from reward_manifest import EMPTY_SAFETENSORS, MANIFEST

from openral_core.registry import RSkillPackage, resolve


@pytest.fixture
def make_reward(tmp_path: Path) -> Callable[..., RSkillPackage]:
    """Write a fake reward skill; keywords are its script, `manifest` changes fields of the manifest."""

    def make(manifest: dict[str, Any] | None = None, **script: Any) -> RSkillPackage:
        folder = tmp_path / "fake-progress"
        folder.mkdir(exist_ok=True)
        content = {**MANIFEST, "policy_extras": script, **(manifest or {})}
        (folder / "rskill.yaml").write_text(yaml.safe_dump(content))
        (folder / "model.safetensors").write_bytes(EMPTY_SAFETENSORS)
        return resolve(str(folder))

    return make
