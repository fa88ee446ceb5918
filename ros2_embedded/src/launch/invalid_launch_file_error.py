"""The error for a launch file that cannot be loaded."""

from __future__ import annotations

from collections.abc import Sequence


class InvalidLaunchFileError(Exception):
    """A launch file could not be read, parsed or executed; the text says which file and why.

    Args:
        *args: the text.
        extension: suffix of a file that nobody could read.
        likely_errors: what those who tried raised, the most likely reason first.
    """

    def __init__(
        self, *args: object, extension: str = "", likely_errors: Sequence[BaseException] = ()
    ) -> None:
        """Make the text of the suffix and the errors where there is no other."""
        self._extension = extension
        self._likely_errors = list(likely_errors)
        if not args and not extension and not self._likely_errors:
            args = ("The launch file may have a syntax error, or its format is unknown",)
        elif not args:
            reasons = "".join(f"\n- {type(error).__name__}: {error}" for error in self._likely_errors)
            args = (
                f"Caught {'multiple exceptions' if len(self._likely_errors) > 1 else 'exception'} when "
                f"trying to "
                f"load file of format [{extension.removeprefix('.')}]:{reasons}",
            )
        super().__init__(*args)


class LaunchFileNotFoundError(InvalidLaunchFileError, FileNotFoundError):
    """There is no such launch file."""
