"""The Python environment of LIBERO's process."""

from __future__ import annotations

from openral_sidecar.environment.spec import InstallStep, SidecarSpec

SPEC = SidecarSpec(
    name="libero",
    python="3.11",
    steps=(
        # The packages that hf-libero, bddl and robosuite import; they declare more, such as wandb and torch for CUDA.
        InstallStep(
            (
                "numpy==1.26.4",
                "mujoco==3.3.0",
                "fast-simplification==0.2.0",
                "gymnasium==1.4.0",
                "scipy>=1.12,<2",
                "numba>=0.60,<1",
                "opencv-python-headless==4.11.0.86",
                "pillow>=10.1",
                "termcolor>=2,<4",
                "easydict>=1.13,<2",
                "future>=1,<2",
                "pyyaml>=6,<7",
                "matplotlib>=3.8,<4",
                "msgpack>=1,<2",
                "pyzmq>=26,<28",
            )
        ),
        InstallStep(("hf-libero==0.1.4", "bddl==1.0.1", "robosuite==1.4.0"), no_deps=True),
    ),
    module="openral_sim_bridge.backends.libero.server",
    parser="openral_sim_bridge.backends.libero.arguments:libero_parser",
    description="LIBERO's worlds on robosuite 1.4.0",
)
