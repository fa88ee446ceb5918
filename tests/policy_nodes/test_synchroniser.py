"""Pictures of free-running cameras and states of the robot are put together by the nearest stamp."""

from __future__ import annotations

import random

import pytest

from openral_policy_nodes.synchroniser import NearestSynchroniser

MS = 1_000_000
STATE_PERIOD, TOLERANCE = 50 * MS, 50 * MS


def stream(
    name: str, period_ns: int, phase_ns: int, late_ns: int, rng: random.Random
) -> list[tuple[int, str, int]]:
    """(arrival [ns], stream, stamp [ns]) of two seconds."""
    stamps = range(phase_ns, 2_000 * MS, period_ns)
    return [(stamp + late_ns + rng.randrange(0, 15 * MS), name, stamp) for stamp in stamps]


@pytest.mark.parametrize("seed", range(20))
def test_each_instant_holds_the_nearest_message_of_each_stream_whatever_came_first(seed: int) -> None:
    rng = random.Random(seed)
    events = stream("state", STATE_PERIOD, 0, rng.randrange(0, 120) * MS, rng)
    for name in ("front", "wrist"):
        period = rng.choice([33, 50, 66]) * MS
        events += stream(name, period, rng.randrange(0, period), rng.randrange(0, 80) * MS, rng)
    stamps = {
        name: sorted(stamp for _, other, stamp in events if other == name)
        for name in ("state", "front", "wrist")
    }
    synchroniser = NearestSynchroniser[int](["front", "wrist"], "state", TOLERANCE)
    found = []
    for _, name, stamp in sorted(events):
        instant = synchroniser.add(name, stamp, stamp)
        if instant is not None:
            found.append(instant)
    assert len(found) > 20
    for instant in found:
        # The instant is a picture's; every other member is the nearest to it of all that its stream ever sent.
        anchors = [instant[name] for name in ("front", "wrist")]
        assert any(
            all(
                abs(instant[name] - anchor) == min(abs(stamp - anchor) for stamp in stamps[name])
                for name in instant
            )
            for anchor in anchors
        )
        assert max(instant.values()) - min(instant.values()) <= 2 * TOLERANCE
    states = [instant["state"] for instant in found]
    assert states == sorted(states)


def test_an_instant_waits_for_a_state_as_new_and_is_found_once() -> None:
    synchroniser = NearestSynchroniser[str](["front"], "state", TOLERANCE)
    assert synchroniser.add("state", 0, "a") is None
    assert synchroniser.add("front", 30 * MS, "picture") is None
    assert synchroniser.add("state", 50 * MS, "b") == {"front": "picture", "state": "b"}
    assert synchroniser.add("state", 100 * MS, "c") is None
    assert synchroniser.add("front", 30 * MS, "again") is None


def test_a_camera_that_stands_still_or_lags_makes_no_instants_and_the_reason_is_told() -> None:
    synchroniser = NearestSynchroniser[int](["front", "wrist"], "state", TOLERANCE)
    found = []
    for step in range(40):
        now = step * STATE_PERIOD
        found.append(synchroniser.add("state", now, now))
        found.append(synchroniser.add("front", now, now))
        if step < 10:
            found.append(synchroniser.add("wrist", now, now))
    assert sum(instant is not None for instant in found) == 10
    # A clock that is half a second behind that of the states.
    slow = NearestSynchroniser[int](["front"], "state", TOLERANCE)
    for step in range(10, 20):
        slow.add("state", step * STATE_PERIOD, 0)
    for index in range(10):
        assert slow.apart == ""
        assert slow.add("front", index * MS, 0) is None
    assert "0.491 s apart" in slow.apart
    assert slow.add("front", 900 * MS, 0) is not None
    assert slow.apart == ""


def test_a_clock_that_was_set_back_begins_anew() -> None:
    synchroniser = NearestSynchroniser[int](["front"], "state", TOLERANCE)
    for stamp in (5_000 * MS, 5_050 * MS):
        synchroniser.add("state", stamp, stamp)
        synchroniser.add("front", stamp, stamp)
    synchroniser.forget_after(4_000 * MS)
    synchroniser.add("state", 3_000 * MS, 3)
    assert synchroniser.add("front", 3_000 * MS, 3) == {"front": 3, "state": 3}
    synchroniser.add("state", 0, 0)
    assert synchroniser.add("front", 0, 0) == {"front": 0, "state": 0}
