"""Converts readings to messages of the topic `progress`, and to responses of the service."""

from __future__ import annotations

from typing import Any

from builtin_interfaces.msg import Time
from openral.msg import TaskProgress

from openral_reward_monitor.reading import Reading


def progress_message(reading: Reading) -> TaskProgress:
    """Return the message for `progress`, stamped with the newest scored frame."""
    message = TaskProgress(
        goal_id=reading.attempt.goal_id,
        task=reading.task,
        camera=reading.camera,
        progress=reading.progress,
        success=reading.success,
        progress_trend=reading.progress_trend,
        success_trend=reading.success_trend,
        threshold=reading.threshold,
        calibrated=reading.calibrated,
        stalled=reading.stalled,
        succeeded=reading.succeeded,
        abstained=reading.abstained,
        frozen=reading.frozen,
        dark=reading.dark,
        remark=reading.remark,
        frames_seen=reading.frames_seen,
        frames_scored=reading.frames_scored,
        latency_s=reading.latency_s,
    )
    sec, nanosec = divmod(round(reading.stamp_s * 1e9), 1_000_000_000)
    message.header.stamp = Time(sec=sec, nanosec=nanosec)
    return message


def fill(response: Any, reading: Reading, age_s: float, stale_after_s: float) -> Any:
    """Write a reading into a response of the service, and return it.

    Args:
        response: a QueryTaskProgress.Response.
        reading: to be written.
        age_s: [s] age of the newest scored frame.
        stale_after_s: [s] age above which the reading counts as stale.
    """
    response.ok = True
    response.age_s, response.stale = age_s, age_s > stale_after_s
    old = f"the newest frame scored is {age_s:.1f} s old" if response.stale else ""
    response.message = "; ".join(filter(None, (old, reading.remark)))
    response.camera, response.calibrated = reading.camera, reading.calibrated
    response.abstained, response.frozen, response.dark = reading.abstained, reading.frozen, reading.dark
    response.progress_now, response.success_now = reading.progress, reading.success
    response.progress_trend, response.success_trend = reading.progress_trend, reading.success_trend
    response.stalled, response.succeeded = reading.stalled, reading.succeeded
    response.frames_seen, response.frames_scored = reading.frames_seen, reading.frames_scored
    response.latency_s = reading.latency_s
    return response


def refuse(response: Any, why: str) -> Any:
    """Mark a response of the service as failed, with the reason, and return it."""
    response.ok, response.message = False, why
    return response
