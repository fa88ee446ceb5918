"""The errors of bags; all are RuntimeErrors, as in ROS 2."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class BagError(RuntimeError, ValueError):
    """There is no bag, or it cannot be read; the text says where and why."""


class BagExistsError(BagError, FileExistsError):
    """The directory of a bag to be written is there already."""


class TopicNotCreatedError(BagError, KeyError):
    """A message was to be written on a topic that the bag was not told of."""

    __str__ = Exception.__str__  # KeyError puts quotes around its text


class EndOfBagError(BagError, StopIteration):
    """There is no message left to read."""


@contextlib.contextmanager
def writing(uri: str) -> Iterator[None]:
    """Have a bag that can be written no further, as on a full disk, be told as a `BagError`."""
    try:
        yield
    except BagError:
        raise
    except OSError as error:
        raise BagError(
            f"the bag '{uri}' can be written no further: {error.strerror or error}; "
            "what was flushed before can be read"
        ) from error
