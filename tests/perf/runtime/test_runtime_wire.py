"""Topics and services between two processes, beside bare Zenoh with the same bytes in the same run.

Rounds of both sides alternate, so that whatever else the machine does meets both.
"""

from __future__ import annotations

import numpy as np
from runtime_pair import pair
from runtime_wire import RATE_HZ

PACED_S = 60.0
ROUNDS = 15
"""Of these the best one counts, as with `timeit`: what is slower was disturbed by something else."""
LATENCY_BAR, FLOOD_BAR, SERVICE_BAR = 1.5, 0.7, 2.0
STRINGS_PER_S = 30_000
LINK_BAR = 1.1


def test_images_at_30_hz(report):
    count = int(PACED_S * RATE_HZ)
    with pair("receive", "send", "images") as (receiver, sender):
        sender.ask(f"pace {count}")
        times = {side: np.array(ns) * 1e-6 for side, ns in receiver.ask(f"latencies {count}").items()}
    lost = {side: count - len(latencies) for side, latencies in times.items()}
    (ros50, ros99), (bare50, bare99) = (np.percentile(times[side], [50, 99]) for side in ("ros", "bare"))
    report(
        f"image 640x480 rgb8 at 30 Hz for {PACED_S:.0f} s, publish to callback",
        f"p50 {ros50:.2f} ms, p99 {ros99:.1f} ms, {lost['ros']} lost",
        f"bare Zenoh p50 {bare50:.2f} ms, p99 {bare99:.1f} ms, {lost['bare']} lost",
        f"p50 {LATENCY_BAR:g} x bare (now {ros50 / bare50:.2f}), none lost",
    )
    assert lost["ros"] == 0
    assert ros50 <= LATENCY_BAR * bare50


def flood_rates(kind: str, count: int) -> dict[str, float]:
    """Best rates [1/s] at which messages arrive when they are sent as fast as it goes, nothing lost."""
    rates: dict[str, list[float]] = {"ros": [], "bare": []}
    with pair("receive", "send", kind) as (receiver, sender):
        for _ in range(ROUNDS + 1):
            for side, found in rates.items():
                assert receiver.ask(f"count {count}") == {"counting": count}
                sender.ask(f"{side} {count}")
                found.append((count - 1) / receiver.hear()["seconds"])
    return {side: max(found[1:]) for side, found in rates.items()}  # the first one warms up


def test_images_flat_out(report):
    rates = flood_rates("images", 500)
    ratio = rates["ros"] / rates["bare"]
    report(
        "image 640x480 rgb8 flat out, nothing dropped",
        f"{rates['ros']:.0f} /s",
        f"bare Zenoh {rates['bare']:.0f} /s",
        f"{FLOOD_BAR:g} x bare (now {ratio:.2f})",
    )
    assert ratio >= FLOOD_BAR


def test_strings_flat_out(report):
    rates = flood_rates("strings", 20_000)
    report(
        "String of 100 B flat out, one process to another, nothing dropped",
        f"{rates['ros']:.0f} /s",
        f"bare Zenoh, callback in its thread {rates['bare']:.0f} /s",
        f"{STRINGS_PER_S} /s",
    )
    assert rates["ros"] >= STRINGS_PER_S


def test_service_round_trip(report):
    with pair("serve", "call") as (_, caller):
        caller.ask("call 200")
        times = {side: np.array(ns) * 1e-6 for side, ns in caller.ask("call 3000").items()}
    (ros50, ros99), (bare50, bare99) = (np.percentile(times[side], [50, 99]) for side in ("ros", "bare"))
    report(
        "service AddTwoInts, round trip",
        f"p50 {ros50:.2f} ms, p99 {ros99:.1f} ms",
        f"bare queryable p50 {bare50:.2f} ms, p99 {bare99:.1f} ms",
        f"p50 {SERVICE_BAR:g} x bare (now {ros50 / bare50:.2f})",
    )
    assert ros50 <= SERVICE_BAR * bare50


def test_what_keeps_others_out_costs(report, monkeypatch):
    """Unix sockets, which only their user can open, beside TCP on loopback with access control."""
    medians = {}
    for reach in ("", "LOCALHOST"):
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", reach)
        with pair("serve", "call") as (_, caller):
            caller.ask("call 200")
            medians[reach] = float(np.median(caller.ask("call 3000")["ros"])) * 1e-6
    report(
        "service AddTwoInts, round trip by Unix socket",
        f"p50 {medians['']:.2f} ms",
        f"TCP on loopback with access control p50 {medians['LOCALHOST']:.2f} ms",
        f"no slower than {LINK_BAR:g} x TCP",
    )
    assert medians[""] <= LINK_BAR * medians["LOCALHOST"]
