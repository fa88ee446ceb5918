"""Condition number of the hand's Jacobian, which grows towards singular postures, and its gradient.

An arm of fewer than six joints cannot move its hand in all six directions. Its condition number is that of the hand's
velocity alone, which is what its actions command (`Chain.turns`).
"""

from __future__ import annotations

import math

import numpy as np

from openral_control.safety.joint_limits import Vector

SINGULAR = 1e-12
"""Ratio of the least to the greatest eigenvalue of J J' up to which J counts as singular."""
TURNING = 6
"""Least number of joints that move and turn the hand in all directions."""


def condition_of(jacobian: Vector) -> float:
    """Return the condition number of a Jacobian (6, n); inf where it is singular."""
    rows = _commanded(jacobian)
    squares = np.linalg.eigvalsh(rows @ rows.T).tolist()  # of the singular values, in rising order
    return math.inf if squares[0] <= SINGULAR * squares[-1] else math.sqrt(squares[-1] / squares[0])


def condition_slope_of(jacobian: Vector) -> Vector:
    """Return the gradient (n,) [1/rad] of the logarithm of the condition number with respect to the joints.

    It is zero for a singular Jacobian.

    Args:
        jacobian: (6, n) of a serial chain: rows of the hand's velocity, then its angular velocity.
    """
    rows = _commanded(jacobian)
    squares, vectors = np.linalg.eigh(rows @ rows.T)
    vectors = np.vstack([vectors, np.zeros((len(jacobian) - len(rows), len(rows)))])
    if squares[0] <= SINGULAR * squares[-1]:
        return np.zeros(jacobian.shape[1])
    after = np.tri(jacobian.shape[1], k=-1).T  # (k, i): 1 where joint i comes after joint k
    least, greatest = (_growth(jacobian, vectors[:, index], after) / squares[index] for index in (0, -1))
    slope: Vector = greatest - least
    return slope


def _commanded(jacobian: Vector) -> Vector:
    """Return the rows of a Jacobian (6, n) of the hand's motion that is commanded: (6, n), or (3, n) for few joints."""
    return jacobian if jacobian.shape[1] >= TURNING else jacobian[:3]


def _growth(jacobian: Vector, direction: Vector, after: Vector) -> Vector:
    """Return (n,) u' dJ/dq J' u: half the derivative of the eigenvalue of J J' with eigenvector u (6,).

    A joint rotates the axes of later joints with all that they move; for earlier joints it moves the hand only. So
    dv_i/dq_k = w_k x v_i for k <= i and w_i x v_k otherwise, and dw_i/dq_k = w_k x w_i for k < i and 0 otherwise, where
    v_i and w_i are the linear and the angular part of column i of the Jacobian.
    """
    moves, turns = jacobian[:3], jacobian[3:]
    along = -turns.T @ _cross(direction[:3]) @ moves  # (k, i): u . (w_k x v_i) = -w_k . (u x v_i)
    around = -turns.T @ _cross(direction[3:]) @ turns
    rates = (along + around) * after + along.T * after.T
    weights = jacobian.T @ direction
    growth: Vector = rates @ weights + np.diagonal(along) * weights
    return growth


def _cross(vector: Vector) -> Vector:
    """Return the matrix (3, 3) that gives u x v for a vector u (3,)."""
    x, y, z = vector.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
