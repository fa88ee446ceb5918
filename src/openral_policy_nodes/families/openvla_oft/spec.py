"""The environment of OpenVLA-OFT checkpoints; uv's settings choose the build of torch (see `lerobot.spec`)."""

from __future__ import annotations

from openral_sidecar.environment.spec import InstallStep, SidecarSpec

SPEC = SidecarSpec(
    name="openvla_oft",
    python="3.11",
    steps=(
        InstallStep(
            (
                "torch==2.13.0",
                "transformers>=4.57.1,<5",
                "bitsandbytes==0.50.2",  # packed weights are in the format of this version
                "accelerate>=1.7,<2",
                "safetensors>=0.5,<1",
                "huggingface-hub<1",
                "pyyaml>=6,<7",
            )
        ),
        InstallStep(("timm==1.0.20", "torchvision==0.28.0", "pillow>=10.1,<13"), no_deps=True),
    ),
    module="openral_policy_nodes.families.openvla_oft.server",
    parser="openral_policy_nodes.families.openvla_oft.server:openvla_parser",
    environment={"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
    description="OpenVLA-OFT with action tokens: timm's DINOv2 and SigLIP, transformers' LLaMA",
)
"""Sidecar of `openral_policy_nodes.families.openvla_oft.server`."""
