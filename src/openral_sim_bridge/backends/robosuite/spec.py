"""The Python environment of robosuite's process."""

from __future__ import annotations

from openral_sidecar.environment.spec import InstallStep, SidecarSpec

SPEC = SidecarSpec(
    name="robosuite",
    python="3.11",
    steps=(
        # The packages that its arms and tasks import; its other requirements are for teleoperation and whole-body
        # control.
        InstallStep(
            (
                "numpy==1.26.4",
                "mujoco==3.3.0",
                "fast-simplification==0.2.0",
                "scipy>=1.12,<2",
                "numba>=0.60,<1",
                "opencv-python-headless==4.11.0.86",
                "pillow>=10.1",
                "termcolor>=2,<4",
            )
        ),
        InstallStep(("robosuite==1.5.2",), no_deps=True),
    ),
    module="openral_sim_bridge.backends.robosuite.server",
    parser="openral_sim_bridge.backends.robosuite.arguments:robosuite_parser",
    description="robosuite 1.5.2's worlds",
)
