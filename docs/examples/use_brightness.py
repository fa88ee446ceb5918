"""Opens the sidecar of `brightness.py`, which builds its environment first, and asks it."""

import numpy as np
from brightness import SPEC

from openral_sidecar.sidecar import Identity, Sidecar, SidecarSettings

settings = SidecarSettings(call_timeout_s=2.0)
with Sidecar.open(SPEC, ["--model", "luma"], Identity("luma"), settings, progress=print) as sidecar:
    image = np.full((224, 224, 3), 200, np.uint8)
    print(sidecar.description, sidecar.call("measure", {"image": image}))
