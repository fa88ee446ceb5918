"""The family of docs/examples/own-family: what its distribution says is enough for a skill to be loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from openral_core.types import PolicyBatch
from openral_policy_nodes.families.factory import GROUP, load_policy
from openral_rskill.package import RSkillPackage

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

torch = pytest.importorskip("torch")
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "own-family"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put the example where its module and its entry points are found, as pip does; return the family's name."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = tmp_path / "site" / "own_family-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    ((name, target),) = project["entry-points"][GROUP].items()
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {target}\n")
    monkeypatch.syspath_prepend(str(info.parent))
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return str(name)


def test_a_family_of_another_distribution_runs_a_skill(
    installed: str, make_skill: Callable[..., RSkillPackage]
) -> None:
    from own_mlp import network
    from safetensors.torch import save_file

    package = make_skill({"model_family": installed})
    manifest = package.manifest
    assert manifest.action_contract is not None
    assert manifest.chunk_size is not None
    dim = manifest.action_contract.dim
    save_file(network(4, manifest.chunk_size, dim).state_dict(), package.folder / "model.safetensors")
    policy = load_policy(package)
    chunks = policy.predict(PolicyBatch({}, np.ones((3, 4), np.float32), ["a", "b", "c"]))
    assert chunks.shape == (3, manifest.chunk_size, dim)
    assert chunks.dtype == np.float32
    policy.close()
