"""Rows under heads for windows of any width: nothing of them is cut, and no word is broken but after a hyphen.

Where the words of a row do not fit beside each other, the row is told over several lines, its cells by their heads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_GAPS = (2, 1)
"""Spaces between two columns, where there is room for them and where there is not."""
_INDENT = 2
_PART = re.compile(r"[^-_/]*[-_/]+|[^-_/]+")
"""Of a word: what ends with a hyphen, an underscore or a slash, after which it may be broken, and the end."""
_NOTHING = frozenset(("", "-", "–"))
"""Cells that are not worth telling by their heads."""


class RowListing:
    """A table to be printed by rich."""

    def __init__(self, *heads: str, right: Collection[str] = ()) -> None:
        """Begin without rows.

        Args:
            heads: of the columns. One without a head, such as a mark, belongs to the column after it. The words of
                the first column with a head, which are names, are never broken.
            right: heads of the columns that are aligned at their right, as numbers are.
        """
        self._heads = tuple(Text(head, style="bold") for head in heads)
        self._right, self._first = frozenset(right), next(i for i, head in enumerate(heads) if head)
        self._rows: list[tuple[Text, ...]] = []

    @property
    def row_count(self) -> int:
        """Rows so far."""
        return len(self._rows)

    def add_row(self, *cells: str | Text) -> None:
        """Add a row, whose last cells may be missing; a `str` is rich's markup."""
        given = [Text.from_markup(cell) if isinstance(cell, str) else cell for cell in cells]
        self._rows.append((*given, *(Text() for _ in self._heads[len(given) :])))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table, or the rows one after the other."""
        for longest in (_longest_word, _longest_part):
            for gap in _GAPS:
                widths = self._widths(options.max_width - gap * (len(self._heads) - 1), longest)
                if widths is not None:
                    yield self._table(widths, gap)
                    return
        for row in self._rows:
            yield from self._told(row)

    def _widths(self, room: int, longest: Callable[[Text], int]) -> list[int] | None:
        """Return the width of each column, of `room` characters in all; None: there is no way.

        Args:
            room: characters of the window, without the gaps.
            longest: returns what a cell needs at least.
        """
        columns = list(zip(self._heads, *self._rows, strict=True))
        widths = [max(map(_width, column)) for column in columns]
        least = [
            max(map(_longest_word if place <= self._first else longest, column))
            for place, column in enumerate(columns)
        ]
        if sum(least) > room:
            return None
        while sum(widths) > room:  # what has the most to spare gives way
            spare = [width - needed for width, needed in zip(widths, least, strict=True)]
            widths[spare.index(max(spare))] -= 1
        return widths

    def _table(self, widths: Sequence[int], gap: int) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))
        for head, width in zip(self._heads, widths, strict=True):
            side = "right" if head.plain in self._right else "left"
            table.add_column(head, justify=side, width=width)  # type: ignore[arg-type]
        for row in self._rows:
            table.add_row(*(_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)))
        return table

    def _told(self, row: tuple[Text, ...]) -> Iterator[Text | Padding]:
        """Yield a row in lines: what it is about, then the other cells."""
        after = self._first + 1
        yield Text(" ").join(row[:after])
        rest = [
            Text(" ").join((Text(" ".join(head.plain.split()), style="dim"), cell))
            for head, cell in zip(self._heads[after:], row[after:], strict=True)
            if cell.plain not in _NOTHING
        ]
        if rest:
            yield Padding(Text("; ").join(rest), (0, 0, 0, _INDENT))


def _width(text: Text) -> int:
    return max((cell_len(line) for line in text.plain.splitlines()), default=0)


def _longest_word(text: Text) -> int:
    return max((cell_len(word) for word in text.plain.split()), default=0)


def _longest_part(text: Text) -> int:
    return max((cell_len(part) for word in text.plain.split() for part in _PART.findall(word)), default=0)


def _wrapped(text: Text, width: int) -> Text:
    """Return a cell with line breaks after the parts of words that are wider than it; rich breaks between words."""
    breaks = []
    for word in re.finditer(r"\S+", text.plain):
        if cell_len(word[0]) <= width:
            continue
        begin = word.start()
        for part in _PART.finditer(text.plain, word.start(), word.end()):
            if cell_len(text.plain[begin : part.end()]) > width:
                breaks.append(part.start())
                begin = part.start()
    return Text("\n").join(text.divide(breaks)) if breaks else text
