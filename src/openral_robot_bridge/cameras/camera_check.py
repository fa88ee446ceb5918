"""Checks of a real arm's cameras by `openral robot check`."""

from __future__ import annotations

from openral_core.scene import DeployScene, SceneCamera
from openral_robot_bridge.cameras.picture_health import FeedReport
from openral_robot_bridge.findings import ArmFinding

SLOW = 0.9
"""Share of the scene's rate below which a camera is too slow."""
GAPS = 3.0
"""Largest gap between two images, in periods of the scene's rate."""


def judge_camera(scene: DeployScene, camera: SceneCamera, report: FeedReport) -> list[ArmFinding]:
    """Return one finding for each of rate, age and content of a camera's images, or one for their absence.

    Args:
        scene: with the camera.
        camera: as the scene describes it.
        report: of the camera's images.
    """
    name = f"camera {camera.name}"
    if not report.pictures or report.fault:
        fix = "see that its driver runs, and that arm.cameras names its topic or device"
        return [ArmFinding(name, False, report.fault, fix)]
    largest_s = GAPS / camera.rate_hz
    rate = f"{report.rate_hz:.1f} pictures a second, {report.size[0]}x{report.size[1]}"
    gap = f"at most {1e3 * report.gap_s:.0f} ms between two"
    age = f"{1e3 * report.age_s:.0f} ms from stamp to arrival, at most {1e3 * report.oldest_s:.0f}"
    shows = (
        "its picture stays the same" if report.frozen else "its picture is dark" if report.dark else "alive"
    )
    return [
        ArmFinding(
            name,
            report.rate_hz >= SLOW * camera.rate_hz and report.gap_s <= largest_s,
            f"{rate}; {gap}; the scene says {camera.rate_hz:g} a second",
            "give it a port and light of its own, or lower rate_hz in the scene",
        ),
        ArmFinding(
            f"{name}, age",
            report.oldest_s <= 0.5 * scene.action.max_age_s,
            f"{age}; chunks may answer what is {1e3 * scene.action.max_age_s:.0f} ms old",
            "set the clocks of both computers alike (chrony), or make pictures smaller",
        ),
        ArmFinding(
            f"{name}, picture",
            not (report.frozen or report.dark),
            shows,
            "take off its cap, switch on the light, or start its driver anew",
        ),
    ]
