"""Rigid transforms as plain tuples: translation (x, y, z) [m], rotation (x, y, z, w), a unit quaternion.

Plain floats, as numpy costs more than it saves for seven numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
# Above this cosine of the half angle two rotations are so near that interpolating linearly is exact enough.
_NEARLY_EQUAL = 0.9999995


class Rigid(NamedTuple):
    """`p_parent = rotation * p_child + translation`."""

    translation: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)


IDENTITY = Rigid()


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """The rotation `b` followed by `a` (Hamilton product)."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotate(q: Quaternion, v: Vector) -> Vector:
    """A vector rotated: v + 2 w (u x v) + 2 u x (u x v) for q = (u, w)."""
    x, y, z, w = q
    tx, ty, tz = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    return (
        v[0] + w * tx + y * tz - z * ty,
        v[1] + w * ty + z * tx - x * tz,
        v[2] + w * tz + x * ty - y * tx,
    )


def compose(a: Rigid, b: Rigid) -> Rigid:
    """`b` followed by `a`."""
    moved = rotate(a.rotation, b.translation)
    translation = (
        moved[0] + a.translation[0],
        moved[1] + a.translation[1],
        moved[2] + a.translation[2],
    )
    return Rigid(translation, multiply(a.rotation, b.rotation))


def invert(a: Rigid) -> Rigid:
    """The transform back."""
    x, y, z, w = a.rotation
    rotation = (-x, -y, -z, w)
    moved = rotate(rotation, a.translation)
    return Rigid((-moved[0], -moved[1], -moved[2]), rotation)


def interpolate(a: Rigid, b: Rigid, ratio: float) -> Rigid:
    """Between `a` (ratio 0) and `b` (ratio 1): linear translation, spherical linear rotation."""
    ta, tb = a.translation, b.translation
    translation = (
        ta[0] + ratio * (tb[0] - ta[0]),
        ta[1] + ratio * (tb[1] - ta[1]),
        ta[2] + ratio * (tb[2] - ta[2]),
    )
    return Rigid(translation, _slerp(a.rotation, b.rotation, ratio))


def _slerp(a: Quaternion, b: Quaternion, ratio: float) -> Quaternion:
    """The shorter way round; Shoemake, Animating rotation with quaternion curves, SIGGRAPH 1985."""
    cosine = sum(p * q for p, q in zip(a, b, strict=True))
    sign = -1.0 if cosine < 0 else 1.0
    cosine = abs(cosine)
    if cosine > _NEARLY_EQUAL:
        first, second = 1 - ratio, ratio
    else:
        angle = math.acos(cosine)
        first, second = math.sin((1 - ratio) * angle), math.sin(ratio * angle)
    mixed = [first * p + sign * second * q for p, q in zip(a, b, strict=True)]
    return normalise((mixed[0], mixed[1], mixed[2], mixed[3]))


def normalise(q: Quaternion) -> Quaternion:
    """The unit quaternion of the same direction."""
    x, y, z, w = q
    length = math.sqrt(x * x + y * y + z * z + w * w)
    return (x / length, y / length, z / length, w / length)
