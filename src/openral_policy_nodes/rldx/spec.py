"""The environment that RLDX-1 runs in: upstream's pinned versions, without what only training and evaluation need.

The versions are those of upstream's pyproject.toml at `REVISION`. flash-attn is left out, since it has to be compiled
where no wheel fits: upstream takes PyTorch's own attention when `RLDX_ATTN_IMPL` says so.
"""

from __future__ import annotations

from openral_core.sidecar.spec import InstallStep, SidecarSpec, Source

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
                "accelerate>=0.34,<2",
                "peft==0.17.1",
                "safetensors>=0.4.5,<1",
                "huggingface-hub>=0.34,<1",
                "albumentations==1.4.18",
                "opencv-contrib-python-headless==4.11.0.86",
                "Pillow>=10.0,<13",
                "numpy==1.26.4",
                "pandas==2.2.3",
                "scipy==1.15.3",
                "einops==0.8.1",
                "dm-tree==0.1.8",
                "av==15.0.0",
                "lmdb==1.7.5",
                "omegaconf==2.3.0",
                "gymnasium==1.2.2",
                "datasets==3.6.0",
                "torchcodec==0.4.0",
                "termcolor==3.2.0",
                "tqdm>=4.66,<5",
                "tyro==0.9.17",
                "msgpack==1.1.0",
                "msgpack-numpy==0.4.8",
                "pyzmq==27.0.1",
                "bitsandbytes>=0.46,<1",
            )
        ),
    ),
    module="openral_policy_nodes.rldx.server",
    source=Source("git", REPOSITORY, REVISION),
    dialect="rldx",
    environment={"RLDX_ATTN_IMPL": "sdpa", "TOKENIZERS_PARALLELISM": "false"},
    description="RLDX-1 with upstream's own server: Qwen3-VL backbone (NF4 or bf16), flow-matching action head in bf16",
)
