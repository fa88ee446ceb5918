from __future__ import annotations

import numpy as np
import pytest

from openral_core.errors import PolicyError
from openral_reward_monitor.models.calibration import load_calibration
from openral_reward_monitor.models.reward_model import RewardScores, checked, load_reward_model
from openral_rskill.registry import resolve

FRAMES = np.stack([np.full((4, 4, 3), value, np.uint8) for value in (0, 51, 255)])


def test_family_of_the_manifest_is_loaded(make_reward):
    scores = load_reward_model(make_reward()).score(FRAMES, "open the drawer")
    np.testing.assert_allclose(scores.progress, [0.0, 0.2, 1.0])
    assert scores.success.dtype == np.float32


def test_unknown_family_and_wrong_kind_are_errors(make_reward):
    with pytest.raises(PolicyError, match=r"'oracle'.*fake, mini"):
        load_reward_model(make_reward({"model_family": "oracle"}))
    detector = {"kind": "vlm", "reward": None, "actions": ["query"]}
    with pytest.raises(PolicyError, match="of kind vlm"):
        load_reward_model(make_reward(detector))


def test_scores_are_clipped_only_for_rounding():
    values = np.array([-1e-5, 0.5, 1.00001], np.float32)
    np.testing.assert_array_equal(
        checked(RewardScores(values, values), 3).progress, np.array([0, 0.5, 1], np.float32)
    )


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([0.1, 0.2], r"\(2,\) for 3 frames"),
        ([0.1, np.nan, 0.3], "not finite"),
        ([0.1, 0.2, 1.5], "promised 0..1"),
    ],
)
@pytest.mark.parametrize("head", ["progress", "success"])
def test_what_is_no_score_is_an_error(values, text, head):
    good = np.zeros(3, np.float32)
    heads = {"progress": good, "success": good, head: np.array(values, np.float32)}
    with pytest.raises(PolicyError, match=text):
        checked(RewardScores(**heads), 3)


def test_the_shipped_calibration_is_of_the_shipped_weights_and_camera():
    found = load_calibration(resolve("mini-progress-mt10"))
    assert found is not None
    calibrated = found.cameras["corner2+behindGripper"]
    assert calibrated.is_done(1.0, 0.8) is True
    assert calibrated.is_done(0.0, 0.8) is False
    said = [calibrated.is_done(score, 0.8) for score in np.linspace(0, 1, 1001)]
    assert said == sorted(said, key=[False, None, True].index), "a higher score never says less"
    assert None in said, "between no and yes it abstains"
