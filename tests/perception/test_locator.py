"""Answers about views: by pixel and by words, and every reason not to answer."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from openral.srv import Locate
from perception_views import FakeDetector, found, view

from openral_core.errors import PolicyError
from openral_perception.geometry import NotLocatedError
from openral_perception.locator import Locator
from openral_perception.ros.locator_node import fill


def test_a_pixel_is_answered_without_a_detector():
    answer = Locator(None).by_pixel(view(), 32.0, 24.0)
    assert answer.source == "pixel"
    assert answer.point.position == pytest.approx([0.0, 0.0, 1.0])
    assert answer.confidence == 1.0


def test_words_are_answered_with_the_thing_that_fits_best_and_the_others():
    detector = FakeDetector(
        [
            found(40.0, 24.0, "red cube"),
            found(20.0, 24.0, "green cube", fit=0.1),
            found(9.0, 9.0, "tray", fit=0.0),
        ]
    )
    answer = Locator(detector).by_words(view(), "the red cube")
    assert (answer.source, answer.remark, answer.u) == ("fake", "red cube", 40.0)
    assert answer.others == ("green cube", "tray")
    assert answer.confidence == pytest.approx(0.9)
    assert answer.point.position[0] == pytest.approx(8 / 60)


def test_a_thing_that_is_two_pixels_wide_is_taken_from_its_own_surface():
    depth = np.full((48, 64), 2.0, np.float32)
    depth[23:25, 31:33] = 1.0
    answer = Locator(FakeDetector([found(32.0, 24.0, "peg")])).by_words(view(depth=depth), "the peg")
    assert answer.point.depth_m == pytest.approx(1.0)


def test_the_next_best_is_taken_where_the_best_has_no_depth():
    depth = np.ones((48, 64), np.float32)
    depth[:, :20] = np.nan
    detector = FakeDetector([found(9.0, 24.0, "cube"), found(40.0, 24.0, "cube")])
    assert Locator(detector).by_words(view(depth=depth), "a cube").u == 40.0
    with pytest.raises(NotLocatedError, match="cube is seen, but only 0 of 9 pixels"):
        Locator(FakeDetector([found(9.0, 24.0, "cube")])).by_words(view(depth=depth), "a cube")


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ([], "'the cube' is not seen by camera front, nor is anything else"),
        ([found(9.0, 9.0, "tray", fit=0.0)], "is not seen by camera front; it sees tray"),
    ],
)
def test_what_is_not_seen_is_refused_with_what_is(seen, reason):
    with pytest.raises(NotLocatedError, match=reason):
        Locator(FakeDetector(seen)).by_words(view(), "the cube")


@pytest.mark.parametrize("ask", ["pixel", "words"])
@pytest.mark.parametrize(
    ("bent", "reason"),
    [
        (replace(view(), age_s=9.0), r"9\.0 s old, more than 2 s"),
        (replace(view(), image=np.zeros((48, 64, 3), np.uint8)), "too dark"),
    ],
)
def test_a_stale_or_dark_view_is_refused(ask, bent, reason):
    locator = Locator(FakeDetector([found(32.0, 24.0, "cube")]))
    with pytest.raises(NotLocatedError, match=reason):
        locator.by_pixel(bent, 32.0, 24.0) if ask == "pixel" else locator.by_words(bent, "cube")


def test_words_need_a_detector_that_answers():
    with pytest.raises(NotLocatedError, match="name detector_skill in the scene"):
        Locator(None).by_words(view(), "the cube")
    with pytest.raises(PolicyError, match="gone"):
        Locator(FakeDetector([], fault="gone")).by_words(view(), "the cube")


class SlowDetector(FakeDetector):
    """Takes its time."""

    def find(self, image, words):
        time.sleep(0.05)
        return super().find(image, words)


def test_an_answer_is_as_old_as_its_picture_when_it_is_given():
    seen = view(age_s=1.9)
    answer = Locator(SlowDetector([found(32.0, 24.0, "cube")])).by_words(seen, "the cube")
    assert answer.took_s >= 0.05
    assert fill(Locate.Response(), "world", seen, answer).age_s == pytest.approx(1.9 + answer.took_s)
