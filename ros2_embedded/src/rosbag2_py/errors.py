"""The errors of bags; all are RuntimeErrors, as in ROS 2."""

from __future__ import annotations


class BagError(RuntimeError, ValueError):
    """There is no bag, or it cannot be read; the text says where and why."""


class BagExistsError(BagError, FileExistsError):
    """The directory of a bag to be written is there already."""


class TopicNotCreatedError(BagError, KeyError):
    """A message was to be written on a topic that the bag was not told of."""

    __str__ = Exception.__str__  # KeyError puts quotes around its text


class EndOfBagError(BagError, StopIteration):
    """There is no message left to read."""
