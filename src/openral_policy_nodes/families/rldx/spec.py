"""The environment of the RLDX-1 server, with the versions that upstream pins in its pyproject.toml.

Two packages are left out, since they must be compiled where no wheel fits: deepspeed, which only training needs, and
flash-attn, instead of which upstream uses PyTorch's own attention with `RLDX_ATTN_IMPL=sdpa`. bitsandbytes is added for
NF4.
"""

from __future__ import annotations

from openral_sidecar.environment.spec import InstallStep, SidecarSpec, Source

REPOSITORY = "https://github.com/RLWRLD/RLDX-1"
REVISION = "0bbc9e30f86abb8864099f631d906847e7016243"

SPEC = SidecarSpec(
    name="rldx",
    python="3.10",
    steps=(
        InstallStep(
            (
                "torch==2.7.0",
                "torchvision==0.22.0",
                "transformers==4.57.0",
                "diffusers==0.35.1",
                "peft==0.17.1",
                "datasets==3.6.0",
                "albumentations==1.4.18",
                "av==15.0.0",
                "click==8.1.8",
                "dm-tree==0.1.8",
                "einops==0.8.1",
                "gymnasium==1.2.2",
                "lmdb==1.7.5",
                "matplotlib==3.10.1",
                "moviepy==1.0.3",
                "msgpack==1.1.0",
                "msgpack-numpy==0.4.8",
                "numpy==1.26.4",
                "omegaconf==2.3.0",
                "opencv-contrib-python-headless==4.11.0.86",
                "pandas==2.2.3",
                "pyzmq==27.0.1",
                "scipy==1.15.3",
                "termcolor==3.2.0",
                "torchcodec==0.4.0",
                "tyro==0.9.17",
                "wandb==0.23.0",
                "accelerate>=0.34,<2",
                "huggingface-hub>=0.34,<1",
                "packaging>=24,<26",
                "Pillow>=10,<13",
                "PyYAML>=6,<7",
                "requests>=2.32,<3",
                "safetensors>=0.4.5,<1",
                "tqdm>=4.66,<5",
                "websockets>=13,<16",
                "bitsandbytes==0.50.2",
            )
        ),
    ),
    module="openral_policy_nodes.families.rldx.server",
    parser="openral_policy_nodes.families.rldx.arguments:rldx_parser",
    source=Source("git", REPOSITORY, REVISION),
    dialect="rldx",
    environment={"RLDX_ATTN_IMPL": "sdpa", "TOKENIZERS_PARALLELISM": "false"},
    description="RLDX-1 with upstream's own server: Qwen3-VL backbone (NF4 or bf16), flow-matching action head in bf16",
)
