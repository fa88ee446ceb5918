"""Packs a Robometer checkpoint to NF4, a tensor at a time: 4 GB of memory do for the 9 GB of robometer/Robometer-4B.

    hf download robometer/Robometer-4B --revision beef63bc914c5c189329d49c6d712d96d632aa34 --local-dir bf16
    python tools/build_robometer_nf4_checkpoint.py bf16 nf4 --source-repo robometer/Robometer-4B

The target folder is a whole checkpoint: packed weights, `quantization_metadata.json`, and the source's configurations,
tokenizer and processor files. The work is done in the robometer sidecar's environment, which is built if need be.
"""

from __future__ import annotations

import os
import subprocess
import sys

from openral_core.errors import OpenralError
from openral_reward_monitor.models.robometer.spec import SPEC
from openral_sidecar.environment.build import ensure_environment
from openral_sidecar.environment.code_links import bundle_for

MODULE = "openral_reward_monitor.models.robometer.pack"


def main() -> int:
    """Run the packer in the sidecar's interpreter with the arguments of this command."""
    try:
        python = ensure_environment(SPEC, progress=_say)
    except OpenralError as error:
        _say(str(error))
        return 1
    environment = {**os.environ, **SPEC.environment, "PYTHONPATH": str(bundle_for(MODULE))}
    return subprocess.run([str(python), "-m", MODULE, *sys.argv[1:]], env=environment, check=False).returncode


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
