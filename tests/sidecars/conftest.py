"""Tests with upstream's real code, in environments that `openral sidecar build` makes (`make sidecars`).

They use the cache of this user, so an environment is built once for all runs; `OPENRAL_CACHE_HOME` chooses another.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from openral_sidecar.environment.build import ensure_environment
from openral_sidecar.table import sidecar_spec

ROOT = Path(__file__).parents[2]
sys.path += [
    str(ROOT / "tests" / part)
    for part in (
        *("benchmark", "policy_nodes/rldx", "reward_monitor", "system"),
        *("training", "training/mapping", "training/rl"),
    )
]  # their stand-ins serve here, too

BUILD_S = 3600
"""A first run downloads and installs gigabytes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.timeout(BUILD_S))


@pytest.fixture(scope="session")
def robometer_python() -> Path:
    """The interpreter of robometer's sidecar."""
    return ensure_environment(sidecar_spec("robometer"))


@pytest.fixture(scope="session")
def tiny_robometer(robometer_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with random weights in the layout of the released one; not to be written to."""
    folder = tmp_path_factory.mktemp("robometer") / "tiny"
    command = [sys.executable, "tools/make_tiny_checkpoint.py", "robometer", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=600)
    return folder


@pytest.fixture(scope="session")
def packed_robometer(tiny_robometer: Path) -> Path:
    """The same, packed to NF4 by the tool, as a reward skill whose manifest says what the one on the hub says."""
    folder = tiny_robometer.with_name("packed")
    command = [sys.executable, "tools/build_robometer_nf4_checkpoint.py"]
    command += [str(tiny_robometer), str(folder), "--min-numel", "4096"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=600)
    manifest = yaml.safe_load((ROOT / "rskills" / "robometer-4b-nf4" / "rskill.yaml").read_text())
    del manifest["model_family"]  # stated by none of the hub's reward manifests
    manifest["name"] = "tests/rskill-tiny-robometer"
    manifest["weights_uri"] = "local://model.safetensors"
    (folder / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    return folder
