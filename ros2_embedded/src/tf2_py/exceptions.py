"""Why a transform cannot be had."""

from __future__ import annotations


class TransformException(Exception):
    """Base of all transform errors."""


class ConnectivityException(TransformException):
    """Both frames exist, but no chain of transforms joins them."""


class LookupException(TransformException):
    """A frame is not known, or the frames form a loop."""


class ExtrapolationException(TransformException):
    """The data does not cover the time asked for: too old, too new, or a single sample."""


class InvalidArgumentException(TransformException):
    """A transform or an argument makes no sense: empty frame, not a number, not a rotation."""


class TimeoutException(TransformException):
    """The transform did not become available in time."""
