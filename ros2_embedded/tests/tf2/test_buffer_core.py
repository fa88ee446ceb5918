"""The transform tree: arithmetic, time, and each way a lookup can fail."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import TransformStamped

from rclpy.duration import Duration
from rclpy.time import Time
from tf2_py import (
    BufferCore,
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
)
from tf2_py.rigid import Rigid, compose, interpolate, invert, normalise, rotate


def make(parent: str, child: str, stamp: float = 0.0, x: float = 0.0, yaw: float = 0.0) -> Any:
    """A transform: shift along x [m], then turn about z [rad]."""
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    message.header.stamp = Time(nanoseconds=round(stamp * 1e9)).to_msg()
    message.transform.translation.x = x
    message.transform.rotation.z, message.transform.rotation.w = math.sin(yaw / 2), math.cos(yaw / 2)
    return message


def at(stamp: float) -> Time:
    """A time [s]."""
    return Time(nanoseconds=round(stamp * 1e9))


def x_of(transform: Any) -> float:
    """The shift along x."""
    return float(transform.transform.translation.x)


@pytest.fixture
def core() -> BufferCore:
    """world -> base (moves 1 m/s from t=1 to t=3), base -> arm static 0.5 m, world -> table static."""
    core = BufferCore()
    for stamp in (1.0, 2.0, 3.0):
        core.set_transform(make("world", "base", stamp, stamp), "driver")
    core.set_transform_static(make("base", "arm", 0.0, 0.5), "urdf")
    core.set_transform_static(make("world", "table", 0.0, 10.0), "urdf")
    return core


def test_a_time_before_zero_is_refused_and_asked_for_in_vain(core: BufferCore) -> None:
    early = make("world", "ghost")
    early.header.stamp.sec = -5
    with pytest.raises(InvalidArgumentException, match="before"):
        core.set_transform(early)
    with pytest.raises(ExtrapolationException):
        core.lookup_transform_core("world", "base", early.header.stamp)
    with pytest.raises(ExtrapolationException, match="before"):
        core.lookup_transform_core("world", "table", early.header.stamp)
    assert not core.can_transform_full_core("world", at(1.0), "arm", early.header.stamp, "table")[0]


def test_lookup_along_and_across_the_tree(core: BufferCore) -> None:
    assert x_of(core.lookup_transform_core("world", "arm", at(2.0))) == pytest.approx(2.5)
    assert x_of(core.lookup_transform_core("arm", "world", at(2.0))) == pytest.approx(-2.5)
    across = core.lookup_transform_core("table", "arm", at(2.0))
    assert x_of(across) == pytest.approx(-7.5)
    assert (across.header.frame_id, across.child_frame_id) == ("table", "arm")
    assert Time.from_msg(across.header.stamp).nanoseconds == 2_000_000_000
    assert x_of(core.lookup_transform_core("arm", "arm", at(2.0))) == 0.0


def test_interpolates_between_samples(core: BufferCore) -> None:
    assert x_of(core.lookup_transform_core("world", "base", at(1.25))) == pytest.approx(1.25)
    core.set_transform(make("world", "wheel", 0.0, yaw=0.0))
    core.set_transform(make("world", "wheel", 1.0, yaw=1.0))
    rotation = core.lookup_transform_core("world", "wheel", at(0.3)).transform.rotation
    assert 2 * math.atan2(rotation.z, rotation.w) == pytest.approx(0.3)


def test_zero_time_is_the_newest_common_one(core: BufferCore) -> None:
    core.set_transform(make("world", "cart", 2.5, 7.0))
    core.set_transform(make("world", "cart", 2.0, 6.0))
    found = core.lookup_transform_core("cart", "base", Time())
    assert Time.from_msg(found.header.stamp).nanoseconds == 2_500_000_000
    assert x_of(found) == pytest.approx(2.5 - 7.0)
    assert core.get_latest_common_time("cart", "base").nanoseconds == 2_500_000_000
    assert core.get_latest_common_time("world", "table").nanoseconds == 0


def test_unknown_frames(core: BufferCore) -> None:
    with pytest.raises(LookupException, match="nowhere"):
        core.lookup_transform_core("nowhere", "base", Time())
    with pytest.raises(LookupException, match="source_frame"):
        core.lookup_transform_core("base", "nowhere", Time())
    for bad in ("", "/base"):
        with pytest.raises(InvalidArgumentException):
            core.lookup_transform_core(bad, "base", Time())


def test_separate_trees(core: BufferCore) -> None:
    core.set_transform(make("moon", "rover", 2.0))
    with pytest.raises(ConnectivityException, match="not part of the same tree"):
        core.lookup_transform_core("moon", "base", at(2.0))
    with pytest.raises(ConnectivityException):
        core.lookup_transform_core("moon", "base", Time())


@pytest.mark.parametrize(("stamp", "word"), [(0.5, "past"), (3.1, "future")])
def test_never_the_last_value(core: BufferCore, stamp: float, word: str) -> None:
    with pytest.raises(ExtrapolationException, match=word):
        core.lookup_transform_core("world", "arm", at(stamp))
    possible, reason = core.can_transform_core("world", "arm", at(stamp))
    assert (possible, word in reason, "[world]" in reason) == (False, True, True)


def test_a_single_sample_covers_its_own_time_only() -> None:
    core = BufferCore()
    core.set_transform(make("world", "base", 1.0))
    core.lookup_transform_core("world", "base", at(1.0))
    with pytest.raises(ExtrapolationException, match=r"only time 1\.0"):
        core.lookup_transform_core("world", "base", at(1.1))


def test_a_stale_branch_above_does_not_matter(core: BufferCore) -> None:
    core.set_transform_static(make("base", "camera", 0.0, 0.2))
    assert x_of(core.lookup_transform_core("arm", "camera", at(99.0))) == pytest.approx(-0.3)


def test_loops_are_found() -> None:
    core = BufferCore()
    for parent, child in (("a", "b"), ("b", "c"), ("c", "a")):
        core.set_transform(make(parent, child, 1.0))
    core.set_transform(make("other", "x", 1.0))
    with pytest.raises(LookupException, match="loop"):
        core.lookup_transform_core("a", "x", at(1.0))


def test_the_cache_forgets() -> None:
    core = BufferCore(Duration(seconds=2))
    for stamp in range(6):
        core.set_transform(make("world", "base", float(stamp)))
    with pytest.raises(ExtrapolationException, match="past"):
        core.lookup_transform_core("world", "base", at(2.5))
    core.set_transform(make("world", "base", 1.0, 9.0))
    with pytest.raises(ExtrapolationException, match=r"earliest data is at time 3\.0"):
        core.lookup_transform_core("world", "base", at(1.0))
    core.set_transform(make("world", "base", 4.0, 9.0))
    assert x_of(core.lookup_transform_core("world", "base", at(4.0))) == 0.0


def test_clear_keeps_static_transforms(core: BufferCore) -> None:
    core.clear()
    assert x_of(core.lookup_transform_core("base", "arm", at(5.0))) == 0.5
    with pytest.raises(ConnectivityException):
        core.lookup_transform_core("world", "base", at(2.0))


def test_bad_transforms_are_refused() -> None:
    core = BufferCore()
    not_a_number = make("a", "b")
    not_a_number.transform.translation.y = math.nan
    no_rotation = make("a", "b")
    no_rotation.transform.rotation.w = 0.0
    for wrong in (make("a", "a"), make("", "b"), make("a", ""), not_a_number, no_rotation):
        with pytest.raises(InvalidArgumentException):
            core.set_transform(wrong)
    assert core.all_frames_as_yaml() == "[]"


def test_two_times_through_a_fixed_frame(core: BufferCore) -> None:
    moved = core.lookup_transform_full_core("base", at(3.0), "base", at(1.0), "world")
    assert x_of(moved) == pytest.approx(-2.0)
    assert core.can_transform_full_core("base", at(3.0), "base", at(1.0), "world") == (True, "")
    assert not core.can_transform_full_core("base", at(9.0), "base", at(1.0), "world")[0]


def test_descriptions(core: BufferCore) -> None:
    text = core.all_frames_as_yaml()
    assert "base: \n  parent: 'world'\n  broadcaster: 'driver'\n  rate: 1.000" in text
    assert "Frame arm exists with parent base.\n" in core.all_frames_as_string()


@pytest.mark.parametrize("name", ["1", "007", "on", "a: b", "it's", "#", "2026-99-99", "a\nb", "é\x7f"])
def test_any_name_of_a_frame_comes_out_of_its_yaml(name: str) -> None:
    core = BufferCore()
    core.set_transform(make(name, "arm"), "driver")
    core.set_transform(make("base", name), "driver's: own")
    frames = yaml.safe_load(core.all_frames_as_yaml())
    assert frames["arm"]["parent"] == name
    assert frames[name]["broadcaster"] == "driver's: own"


def test_arithmetic_agrees_with_matrices() -> None:
    random = np.random.default_rng(7)

    def matrix(rigid: Rigid) -> Any:
        x, y, z, w = rigid.rotation
        result = np.eye(4)
        result[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        result[:3, 3] = rigid.translation
        return result

    for _ in range(50):
        a, b = (
            Rigid(tuple(random.normal(size=3)), normalise(tuple(random.normal(size=4)))) for _ in range(2)
        )
        assert np.allclose(matrix(compose(a, b)), matrix(a) @ matrix(b))
        assert np.allclose(matrix(invert(a)), np.linalg.inv(matrix(a)))
        assert np.allclose(rotate(a.rotation, (1.0, 2.0, 3.0)), matrix(a)[:3, :3] @ [1.0, 2.0, 3.0])
        assert np.allclose(matrix(interpolate(a, b, 0.0)), matrix(a))
        assert np.allclose(matrix(interpolate(a, b, 1.0)), matrix(b))
