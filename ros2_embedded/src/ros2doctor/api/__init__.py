"""Results of checks, and reports of names and values."""

from __future__ import annotations


class Result:
    """How many errors and warnings a check found."""

    def __init__(self) -> None:
        """Start with none."""
        self.error = 0
        self.warning = 0

    def add_error(self, error_msg: str) -> None:
        """Count an error and write it to stderr."""
        self.error += 1
        _warn(f"ERROR: {error_msg}")

    def add_warning(self, warn_msg: str) -> None:
        """Count a warning and write it to stderr."""
        self.warning += 1
        _warn(warn_msg)


class Report:
    """A titled list of items, each a name and a value."""

    def __init__(self, name: str) -> None:
        """Start an empty report with this title."""
        self.name = name
        self.items: list[tuple[str, str | int]] = []

    def add_to_report(self, item_name: str, item_info: str | int) -> None:
        """Add an item."""
        self.items.append((item_name, item_info))


class DoctorCheck:
    """The base of checks."""

    def category(self) -> str:
        """Return what the check is about.

        Raises:
            NotImplementedError: a check must say it.
        """
        raise NotImplementedError

    def check(self) -> Result:
        """Return what the check found.

        Raises:
            NotImplementedError: a check must do something.
        """
        raise NotImplementedError


class DoctorReport:
    """The base of reports."""

    def category(self) -> str:
        """Return what the report is about.

        Raises:
            NotImplementedError: a report must say it.
        """
        raise NotImplementedError

    def report(self) -> Report:
        """Return the report.

        Raises:
            NotImplementedError: a report must have something in it.
        """
        raise NotImplementedError


def _warn(text: str) -> None:
    import warnings

    warnings.warn(text, stacklevel=3)
