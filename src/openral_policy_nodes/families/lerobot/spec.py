"""The environment of LeRobot policies.

It gives only the version of torch. Its build is chosen by uv's own settings: `UV_TORCH_BACKEND=auto` (or `cpu`,
`cu128`...) where wheels are downloaded, `UV_FIND_LINKS` where they are in a folder.
"""

from __future__ import annotations

from dataclasses import replace

from openral_sidecar.environment.spec import InstallStep, SidecarSpec, Source

# lerobot 0.4.4 is the newest release for Python 3.10 and 3.11. It pins torch below 2.11, and depends on packages of
# robots, cameras and simulators that a server does not need. So it is installed without its dependencies, and those of
# `import lerobot.policies.factory` are listed here. The bounds on huggingface-hub and packaging are lerobot's own.
_BOUNDS = ("huggingface-hub<0.36", "packaging<26")


def _steps(transformers: str) -> tuple[InstallStep, ...]:
    base = (
        "torch==2.13.0",
        "safetensors>=0.5,<1",
        "einops>=0.8,<1",
        "draccus==0.10.0",
        transformers,
        "num2words>=0.5,<1",
        "accelerate>=1.7,<2",
        "pillow>=10.1,<13",
    )
    imported = (
        "datasets>=4,<5",
        "imageio>=2.34,<3",
        "diffusers>=0.30,<1",
        "pyserial>=3.5,<4",
        "deepdiff>=8,<10",
        "av>=15,<16",
        "gymnasium>=1,<2",
    )
    return (
        InstallStep((*base, *_BOUNDS)),
        InstallStep(("lerobot==0.4.4", "torchvision==0.28.0"), no_deps=True),
        InstallStep((*imported, *_BOUNDS)),
    )


SPEC = SidecarSpec(
    name="lerobot",
    python="3.11",
    steps=_steps("transformers>=4.57.1,<5"),
    module="openral_policy_nodes.families.lerobot.server",
    parser="openral_policy_nodes.families.lerobot.server:lerobot_parser",
    environment={"TOKENIZERS_PARALLELISM": "false"},
    description="LeRobot 0.4.4: SmolVLA, ACT, Diffusion, X-VLA and others from their checkpoints",
)
"""Sidecar of every policy but those of `PI_KINDS`."""

SPEC_PI = replace(
    SPEC,
    name="lerobot_pi",
    steps=_steps("transformers==4.53.3"),
    # The branch fix/lerobot_openpi, without which LeRobot 0.4.4 refuses to build pi0 and pi0.5.
    source=Source(
        "git", "https://github.com/huggingface/transformers", "dcddb970176382c0fcf4521b0c0e6fc15894dfe0"
    ),
    description="LeRobot 0.4.4 with the fork of transformers that pi0 and pi0.5 need",
)
PI_KINDS = ("pi0", "pi05")
"""Policies that need `SPEC_PI`."""


def spec_for(kind: str) -> SidecarSpec:
    """Return the spec of the sidecar that serves a kind of policy."""
    return SPEC_PI if kind in PI_KINDS else SPEC
