#!/usr/bin/env python3
"""Start an RLDX-1 server by hand; the first start builds its environment.

    python tools/rldx_sidecar.py --model RLWRLD/RLDX-1-FT-LIBERO --port 5555 --quantization nf4

Its weights are for non-commercial use only: set OPENRAL_ACCEPT_NONCOMMERCIAL=1 if your use is, and their terms are met.
"""

import sys

from openral_policy_nodes.families.rldx.foreground_server import run_by_hand
from openral_policy_nodes.families.rldx.spec import SPEC

if __name__ == "__main__":
    sys.exit(run_by_hand(SPEC, sys.argv[1:]))
