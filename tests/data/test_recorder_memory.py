"""What a recorder keeps of a robot that stands still for long, or sends what no frame can have."""

from __future__ import annotations

import tracemalloc

from recorded_deployment import COLUMNS

from openral_data.recording.assembler import FrameAssembler

MINUTE = round(60 * COLUMNS.control_hz)


def test_states_without_a_control_step_are_not_kept() -> None:
    """As where a driver says the joints for hours before the bridge has its arm."""
    assembler, sizes = FrameAssembler(COLUMNS), list[int]()
    tracemalloc.start()
    try:
        for minute in range(3):
            for number in range(minute * MINUTE, (minute + 1) * MINUTE):
                stamp_s = number / COLUMNS.control_hz
                assembler.joints(stamp_s, COLUMNS.joints, (0.0, 0.0))
                assembler.pose(stamp_s, (0.0,) * 7)
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[2] < 1.1 * sizes[0]
