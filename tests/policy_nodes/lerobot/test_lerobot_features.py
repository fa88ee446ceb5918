from __future__ import annotations

import numpy as np
import pytest
from lerobot_files import CAMERA, features

from openral_core.errors import PolicyError
from openral_policy_nodes.families.lerobot.features import Features

GOOD = {
    "images": {CAMERA: np.zeros((2, 32, 32, 3), np.uint8)},
    "state": np.zeros((2, 4), np.float32),
    "instructions": ["open the drawer", "close it"],
}


def test_they_survive_the_wire():
    assert Features.from_wire(features().to_wire()).to_wire() == features().to_wire()
    with pytest.raises(PolicyError, match="description lacks 'kind'"):
        Features.from_wire({})


def test_a_request_that_fits_has_no_fault():
    assert features().fault(GOOD) is None
    assert features(state=0).fault({**GOOD, "state": None}) is None
    looking_back = {**GOOD, "images": {CAMERA: np.zeros((2, 2, 32, 32, 3), np.uint8)}}
    looking_back["state"] = np.zeros((2, 2, 4), np.float32)
    assert features(n_obs_steps=2).fault(looking_back) is None


def test_sizes_are_the_policys_business_where_it_resizes():
    larger = {**GOOD, "images": {CAMERA: np.zeros((2, 48, 64, 3), np.uint8)}}
    assert features(any_size=True).fault(larger) is None
    assert "takes uint8 (2, 32, 32, 3)" in str(features(any_size=False).fault(larger))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"images": {}}, f"looks through {CAMERA}; missing: {CAMERA}, unknown: none"),
        ({"images": {**GOOD["images"], "wrist": GOOD["images"][CAMERA]}}, "missing: none, unknown: wrist"),
        (
            {"images": {CAMERA: np.zeros((2, 32, 32, 3), np.float32)}},
            "is float32 (2, 32, 32, 3), the policy takes",
        ),
        ({"images": {CAMERA: np.zeros((1, 32, 32, 3), np.uint8)}}, "takes uint8 (2, 32, 32, 3)"),
        ({"images": {CAMERA: np.zeros((2, 0, 32, 3), np.uint8)}}, "the policy takes"),
        ({"images": {CAMERA: np.zeros((2, 4, 32, 32, 3), np.uint8)}}, "is uint8 (2, 4, 32, 32, 3)"),
        ({"images": {CAMERA: "picture"}}, "is str, the policy takes"),
        ({"images": None}, "images by name"),
        ({"instructions": []}, "not empty"),
        ({"instructions": [1, 2]}, "must be strings"),
        ({"state": np.zeros((2, 3), np.float32)}, "state is float32 (2, 3), the policy takes float32 (2, 4)"),
        ({"state": None}, "state is NoneType"),
    ],
)
def test_what_does_not_fit_is_said(change, said):
    assert said in str(features().fault({**GOOD, **change}))
