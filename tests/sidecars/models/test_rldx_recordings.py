"""RLDX-1's static parts by upstream's real code: recorded or not, the same actions, bit for bit, for any sentences.

Upstream's package comes from the package index as it is; its pins are of another Python, and none of what it pins is
needed for the model's own code. It runs in LeRobot's environment, which has transformers and diffusers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

from openral_policy_nodes.families.lerobot.spec import SPEC as LEROBOT
from openral_sidecar.environment.build import ensure_environment

ROOT = Path(__file__).parents[3]
PROOF = Path(__file__).with_name("rldx_recordings_proof.py")
WHEEL = "rlinf-rldx==1.0.1.post10"
SHA256 = "74b7d642fc084fa67377fbf109acc80dd38d53cc03589c533b90fda357378e8d"


def upstream(folder: Path) -> Path:
    """Fetch upstream's package and return where it is unpacked."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*command, "--python-version", "3.10", "--dest", str(folder), WHEEL], check=True)
    [wheel] = folder.glob("*.whl")
    assert sha256(wheel.read_bytes()).hexdigest() == SHA256
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "package")
    return folder / "package"


def test_recorded_or_not_the_actions_are_upstreams(tmp_path: Path) -> None:
    path = os.pathsep.join(str(ROOT / folder) for folder in ("src", "tools"))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [str(ensure_environment(LEROBOT)), str(PROOF), str(upstream(tmp_path)), str(tmp_path / "qwen")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["apart"] == [0.0] * 6
    assert found["finite"]
    assert found["different"]
    # Two batch sizes and two lengths of sentence for the decoder layers; two batch sizes and a mask for the denoising.
    assert found["recordings"] == [3, 3]
    assert found["refused"] == ["", ""]
    assert found["layers_left"] == 5
    assert found["recordings_of_continued_chunks"] == 0
    # Sentences of different lengths in one batch: upstream by itself fails, and each is answered as if it were alone.
    differing = found["differing"]
    assert differing["upstream"] == "IndexError"
    assert differing["recorded_apart"] == [0.0, 0.0]
    assert differing["alone_apart"] < 0.02  # sums in bf16, in batches of another size
    assert differing["others_apart"] > 0.1
