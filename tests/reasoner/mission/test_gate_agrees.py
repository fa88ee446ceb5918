"""The reward monitor and the mission cannot disagree: the same readings, through the message, judged by both."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from openral_core.image_message import parse_stamp
from openral_core.manifest import Reward
from openral_core.progress_judgement import ProgressThresholds
from openral_reasoner.mission.attempt import Attempt
from openral_reasoner.mission.verify_gate import GateVerdict
from openral_reasoner.palette import Skill
from openral_reasoner.ros.messages import reading_of
from openral_reward_monitor.models.calibration import Calibration, CameraCalibration
from openral_reward_monitor.models.reward_model import RewardScores
from openral_reward_monitor.reading import ReadingMaker
from openral_reward_monitor.ros.messages import progress_message
from openral_reward_monitor.window import Selection, WatchedGoal

GOAL = "0123456789abcdef" * 2
REWARD = Reward(
    frame_window_s=20.0,
    target_fps=4.0,
    success_threshold=0.9,
    check_floor=0.5,
    plateau_window_s=2.0,
    plateau_tolerance=0.05,
    default_patience_s=0.01,
)
CAMERA = CameraCalibration(
    scores=(0.0, 0.5, 0.7, 1.0),
    probabilities=(0.0, 0.1, 0.9, 1.0),
    yes_from=0.6,
    no_below=0.5,
    error_rate=0.02,
    rollouts_done=100,
    rollouts_not_done=100,
    recipe="none",
    init_ids=(1, 2),
)
CALIBRATIONS = (None, Calibration(skill="tests/x", weights_sha256=None, cameras={"corner2": CAMERA}))

SCORE = st.one_of(st.sampled_from([0.3, 0.5, 0.7, 0.9, 0.95]), st.floats(0, 1, width=32))
GAP_S = st.one_of(st.sampled_from([0.25, 1 / 3, 0.5, 1.0, 1.5, 2.0]), st.floats(0.05, 4.0))
STEP = st.tuples(GAP_S, SCORE, SCORE, st.sampled_from(["fine", "fine", "fine", "dark"]))


EDGE_GAPS_S = (1.0, 1.0, 2.0, 1.0, 1 / 3, 1.5, 0.5)
"""The last two are as long as the window in which progress must have stood still."""
EDGE = [(gap_s, 0.5 if number in (3, 6) else 0.3, 0.3, "fine") for number, gap_s in enumerate(EDGE_GAPS_S)]


@settings(max_examples=100)
@example(steps=EDGE, calibrated=False)
@given(steps=st.lists(STEP, min_size=1, max_size=30), calibrated=st.booleans())
def test_both_say_the_same_at_every_reading(
    steps: list[tuple[float, float, float, str]], calibrated: bool
) -> None:
    maker = ReadingMaker(REWARD, CALIBRATIONS[calibrated])
    thresholds = ProgressThresholds.from_reward(REWARD.model_dump())
    skill = Skill(name="t/rskill-x", slug="x", node="/x", action_server="/x")
    attempt = Attempt(key=1, skill=skill, started_s=0.0, deadline_s=1e9, sent_wall_s=0.0)
    stamp_ns = 1_000_000_000
    for gap_s, progress, success, picture in steps:
        stamp_ns += round(gap_s * 1e9)
        stamp_s = parse_stamp("image", *divmod(stamp_ns, 1_000_000_000), 1e9)  # as a camera's message has it
        frames = np.zeros((1, 2, 2, 3), np.uint8)
        seen = Selection(
            WatchedGoal(GOAL, "words"),
            np.array([stamp_s]),
            frames,
            1,
            camera="corner2",
            dark=picture == "dark",
        )
        scores = RewardScores(np.array([progress], np.float32), np.array([success], np.float32))
        published = progress_message(maker.make(seen, "words", scores, 0.02))
        _, received = reading_of(published, stamp_s)
        attempt.readings.append(received)
        verdict = attempt.judge(received.stamp_s, thresholds).verdict
        assert (verdict is GateVerdict.SUCCEEDED) == published.succeeded
        assert (verdict is GateVerdict.STALLED) == published.stalled
