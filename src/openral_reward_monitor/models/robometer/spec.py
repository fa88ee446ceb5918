"""The environment that Robometer runs in.

Only torch's version is pinned; uv's own settings choose its build: `UV_TORCH_BACKEND=auto` (or `cpu`, `cu128`...) for
wheels from the network, `UV_FIND_LINKS` for those in a folder.
"""

from __future__ import annotations

from openral_sidecar.environment.spec import InstallStep, SidecarSpec

SPEC = SidecarSpec(
    name="robometer",
    python="3.11",
    steps=(
        InstallStep(
            (
                "torch==2.13.0",
                # Newer ones change the processor's arguments, and the graph's, with which the weights were trained.
                "transformers==4.57.1",
                # The packed bits are those of this version.
                "bitsandbytes==0.50.2",
                "accelerate>=1.7,<2",
                "safetensors>=0.5,<1",
                "pillow>=10.1,<14",
                "pyyaml>=6,<7",
                "numpy>=1.26,<3",
                "msgpack>=1.1,<2",
                "pyzmq>=26,<28",
            )
        ),
        # Qwen3-VL's processor needs torchvision's Python half; its compiled half must fit torch's build (see
        # `openral_sidecar.environment.torchvision_shim`), which no resolver can know.
        InstallStep(("torchvision==0.28.0",), no_deps=True),
    ),
    module="openral_reward_monitor.models.robometer.server",
    parser="openral_reward_monitor.models.robometer.arguments:robometer_parser",
    environment={
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # what torch's deterministic mode asks for
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    },
    description="Robometer (Qwen3-VL-4B): progress and success of an attempt, frame by frame",
)
"""Serves `openral_reward_monitor.models.robometer.server`."""
