"""Tokens, bins, statistics and crops against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from openral_core.errors import PolicyError
from openral_policy_nodes.families.openvla_oft.actions import (
    ActionStatistics,
    bin_centres,
    gripper_to_libero,
    tokens_to_values,
)
from openral_policy_nodes.families.openvla_oft.images import centre_crop, tower_pixels

VOCABULARY = 32000
ENTRY = {"q01": [-0.5, -1.0, 0.0], "q99": [0.5, 3.0, 1.0], "mask": [True, True, False]}
STATISTICS = ActionStatistics.read(
    {"libero_spatial_no_noops": {"action": ENTRY}}, "libero_spatial_no_noops", "action"
)


def test_bins_are_the_255_middles_of_256_edges() -> None:
    middles = bin_centres(256)
    assert middles.shape == (255,)
    np.testing.assert_allclose(middles, [-1 + (2 * i + 1) / 255 for i in range(255)], atol=1e-15)


def test_the_last_word_is_the_lowest_value() -> None:
    tokens = np.array([[31999, 31998], [31872, 31745], [31744, 31744]])
    expected = [[-254 / 255, -252 / 255], [0.0, 254 / 255], [254 / 255, 254 / 255]]
    np.testing.assert_allclose(tokens_to_values(tokens, VOCABULARY, 256), expected, atol=1e-15)


def test_words_that_are_no_actions_are_clipped_to_the_ends() -> None:
    np.testing.assert_allclose(
        tokens_to_values(np.array([0, 32063]), VOCABULARY, 256), [254 / 255, -254 / 255]
    )


def test_every_action_survives_the_way_there_and_back_to_half_a_bin() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, 1000)
    # The tokenizer of the demonstrations: np.digitize over the edges, counted down from the vocabulary's end.
    tokens = VOCABULARY - np.clip(np.digitize(values, np.linspace(-1, 1, 256)), 1, 256)
    assert np.abs(tokens_to_values(tokens, VOCABULARY, 256) - values).max() <= 1 / 255 + 1e-12


def test_unnormalising_maps_the_ends_to_the_quantiles_and_leaves_the_masked() -> None:
    values = np.array([[-1.0, -1.0, 0.25], [1.0, 1.0, 0.75], [0.0, 0.5, 1.0]])
    expected = [[-0.5, -1.0, 0.25], [0.5, 3.0, 0.75], [0.0, 2.0, 1.0]]
    np.testing.assert_allclose(STATISTICS.unnormalise(values), expected, atol=1e-7)


def test_normalising_is_the_inverse_and_clips() -> None:
    inside = np.array([0.1, 2.5, 0.3])
    np.testing.assert_allclose(STATISTICS.unnormalise(STATISTICS.normalise(inside)), inside, atol=1e-7)
    np.testing.assert_array_equal(STATISTICS.normalise(np.array([9.0, -9.0, 0.3])), [1.0, -1.0, 0.3])


def test_statistics_are_found_by_the_short_name_and_missed_by_a_wrong_one() -> None:
    stats = {"libero_spatial_no_noops": {"action": ENTRY}}
    assert ActionStatistics.read(stats, "libero_spatial", "action").high.tolist() == [0.5, 3.0, 1.0]
    with pytest.raises(PolicyError, match=r"'bridge', the checkpoint has libero_spatial_no_noops.*norm_tag"):
        ActionStatistics.read(stats, "bridge", "action")
    with pytest.raises(PolicyError, match=r"of proprio lack 'proprio'"):
        ActionStatistics.read(stats, "libero_spatial", "proprio")
    uneven = {"x": {"action": {**ENTRY, "q99": [1.0]}}}
    with pytest.raises(PolicyError, match="differ in length"):
        ActionStatistics.read(uneven, "x", "action")


def test_gripper_of_libero_opens_at_minus_one() -> None:
    np.testing.assert_array_equal(gripper_to_libero(np.array([0.0, 0.2, 0.5, 0.51, 1.0])), [1, 1, 0, -1, -1])


def cropped_by_numpy(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The crop, pixel by pixel, in float64."""
    size, side = images.shape[0], np.sqrt(0.9)
    places = np.linspace(0, side * (size - 1), size) + (1 - side) / 2 * (size - 1)
    low = np.floor(places).astype(int)
    share, floats = places - low, images / 255
    rows = floats[low] * (1 - share)[:, None, None] + floats[low + 1] * share[:, None, None]
    both = rows[:, low] * (1 - share)[:, None] + rows[:, low + 1] * share[:, None]
    return np.floor(both * 255.5).astype(np.uint8)


def test_crop_of_the_whole_changes_nothing() -> None:
    images = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (2, 3, 9, 7, 3), np.uint8))
    assert torch.equal(centre_crop(images, 1.0), images)


def test_crop_is_the_formulas_and_is_made_where_the_pictures_are() -> None:
    image = np.random.default_rng(2).integers(0, 256, (32, 32, 3), np.uint8)
    apart = centre_crop(torch.from_numpy(image)).numpy().astype(int) - cropped_by_numpy(image)
    assert np.abs(apart).max() <= 1
    assert (apart == 0).mean() > 0.999  # where a sum is nearly a whole number, its last digit decides
    there = torch.zeros(1, 1, 32, 32, 3, dtype=torch.uint8, device="meta")  # the meta device stands for a GPU
    pixels = tower_pixels(there, [(0.5, 0.5, 0.5)], [(0.5, 0.5, 0.5)])
    assert (pixels.device.type, pixels.shape, pixels.dtype) == ("meta", (1, 3, 32, 32), torch.float32)


def test_crop_samples_a_ramp_where_the_formula_says() -> None:
    size, side = 224, np.sqrt(0.9)
    ramp = np.tile(np.arange(size, dtype=np.uint8), (size, 1))
    image = np.stack([ramp, ramp.T, np.full_like(ramp, 77)], axis=-1)
    cropped = centre_crop(torch.from_numpy(image)).numpy()
    # Pixel j lies at x_j = (1 - s) / 2 * (n - 1) + j * s; on a ramp that is its value, then times 255.5 / 255.
    places = (1 - side) / 2 * (size - 1) + np.arange(size) * side
    expected = np.floor(places * 255.5 / 255)
    assert (
        np.abs(cropped[5, :, 0].astype(int) - expected).max() <= 1
    )  # a float's last digit may cross a whole number
    assert (cropped[5, :, 0] == expected).mean() > 0.95
    np.testing.assert_array_equal(cropped[:, 5, 1], cropped[5, :, 0])
    assert (cropped[..., 2] == 77).all()


def test_towers_lie_side_by_side_camera_by_camera() -> None:
    images = torch.zeros((1, 2, 2, 2, 3), dtype=torch.uint8)
    images[0, 1] = 255
    pixels = tower_pixels(images, [(0.5, 0.5, 0.5), (0.0, 0.0, 0.0)], [(0.5, 0.5, 0.5), (0.5, 0.25, 1.0)])
    assert (pixels.shape, pixels.dtype) == ((1, 12, 2, 2), torch.float32)
    assert pixels[0, :, 0, 0].tolist() == [-1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 4, 1]
