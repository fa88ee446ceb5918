"""The environment that open-vocabulary detectors of transformers run in (Grounding DINO, OWLv2)."""

from __future__ import annotations

from openral_sidecar.environment.spec import InstallStep, SidecarSpec

SPEC = SidecarSpec(
    name="zeroshot_detector",
    python="3.11",
    steps=(
        InstallStep(
            (
                "torch==2.13.0",
                "transformers==4.57.1",
                "safetensors>=0.5,<1",
                "pillow>=10.1,<14",
                "numpy>=1.26,<3",
                "msgpack>=1.1,<2",
                "pyyaml>=6,<7",
                "pyzmq>=26,<28",
                "pydantic>=2.9,<3",
                "scipy>=1.12,<2",
            )
        ),
        # The processors need torchvision's Python half; see `openral_sidecar.environment.torchvision_shim`.
        InstallStep(("torchvision==0.28.0",), no_deps=True),
    ),
    module="openral_perception.detectors.zeroshot.server",
    parser="openral_perception.detectors.zeroshot.server:zeroshot_parser",
    environment={"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
    description="An open-vocabulary detector of transformers: a box and a score for any words",
)
"""Serves `openral_perception.detectors.zeroshot.server`."""
