"""Filters that pass on a message when it differs from the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from message_filters.simple_filter import SimpleFilter

_PLAIN = (bool, int, float, str)


class ComparisonHandler:
    """Says of each message whether it is passed on."""

    def message_fits(self, message: Any) -> bool:
        """Whether a message is passed on."""
        raise NotImplementedError(f"{type(self).__name__} lacks message_fits")

    def do_fields_fit(self, field_a: Any, field_b: Any) -> bool:
        """Whether a message is passed on because of a value of the last one and its own."""
        raise NotImplementedError(f"{type(self).__name__} lacks do_fields_fit")


class CachedComparisonHandler(ComparisonHandler):
    """Compares the values of each message with those of the last one that was passed on.

    A subclass has `_field_getters`, functions that give a value of a message, and `do_fields_fit`.
    """

    _field_getters: Sequence[Callable[[Any], Any]] = ()

    def __init__(self) -> None:
        super().__init__()
        self._message_cache: Any = None

    def message_fits(self, message: Any) -> bool:
        """Whether a message is the first one, or one of its values fits."""
        last = self._message_cache
        fits = last is None or any(
            self.do_fields_fit(value_of(last), value_of(message)) for value_of in self._field_getters
        )
        if fits:
            self._message_cache = message
        return fits


class DeltaCompare(CachedComparisonHandler):
    """Passes on a message of which a value differs from that of the last one that was passed on."""

    def __init__(self, field_getters: Sequence[Callable[[Any], Any]]) -> None:
        """Compare what these functions give for a message: truth values, numbers or texts."""
        super().__init__()
        self._field_getters = field_getters

    def do_fields_fit(self, field_a: Any, field_b: Any) -> bool:
        """Whether two values differ.

        Raises:
            TypeError: one of them is no truth value, number or text.
        """
        for value in (field_a, field_b):
            if not isinstance(value, _PLAIN):
                raise TypeError(f"a {type(value).__name__} is no value that can be compared")
        return bool(field_a != field_b)


class ComparisonFilter(SimpleFilter):
    """Passes on the messages of which a handler says so."""

    def __init__(
        self, comparison_handler: ComparisonHandler, message_filter: SimpleFilter | None = None
    ) -> None:
        """Make a filter.

        Args:
            comparison_handler: says of each message whether it is passed on.
            message_filter: the filter whose messages are taken, or None where `add` or `connectInput` is
                called later.
        """
        super().__init__()
        self._comparison_handler = comparison_handler
        self.incoming_connection: int | None = None
        self.connectInput(message_filter)

    def connectInput(self, message_filter: SimpleFilter | None) -> None:
        """Take the messages of a filter.

        Raises:
            RuntimeError: another one was connected before.
        """
        if self.incoming_connection is not None:
            raise RuntimeError(f"the {type(self).__name__} takes the messages of another filter already")
        if message_filter is not None:
            self.incoming_connection = message_filter.registerCallback(self.add)

    def message_fits(self, message: Any) -> bool:
        """Whether the handler lets a message pass."""
        return self._comparison_handler.message_fits(message)

    def add(self, message: Any) -> None:
        """Take a message, and pass it on if the handler says so."""
        if self.message_fits(message):
            self.signalMessage(message)


class DeltaFilter(ComparisonFilter):
    """Passes on a message of which a value differs from that of the last one that was passed on."""

    def __init__(
        self, field_getters: Sequence[Callable[[Any], Any]], message_filter: SimpleFilter | None = None
    ) -> None:
        """Make a filter.

        Args:
            field_getters: functions that give a value of a message: a truth value, a number or a text.
            message_filter: the filter whose messages are taken, or None.
        """
        super().__init__(DeltaCompare(field_getters), message_filter)


class PathDeltaFilter(DeltaFilter):
    """Passes on a message of which a named field differs from that of the last one that was passed on."""

    def __init__(self, field_path_list: Sequence[str], message_filter: SimpleFilter | None = None) -> None:
        """Make a filter.

        Args:
            field_path_list: the fields, such as `pose.position.x`.
            message_filter: the filter whose messages are taken, or None.
        """

        def getter(path: str) -> Callable[[Any], Any]:
            return lambda message: self.get_field_by_path(message, path)

        super().__init__([getter(path) for path in field_path_list], message_filter)

    def get_field_by_path(self, message: Any, field_path: str) -> Any:
        """The value of a field, such as `pose.position.x`.

        Raises:
            RuntimeError: the message has no such field.
        """
        value = message
        for name in field_path.split("."):
            owner, value = value, getattr(value, name, None)
            if value is None:
                raise RuntimeError(f"{type(owner).__name__} has no field {name!r} of the path {field_path!r}")
        return value
