"""What a content filter of a subscription consists of."""

from __future__ import annotations

from typing import NamedTuple


class ContentFilterOptions(NamedTuple):
    """A filter over the fields of a message; Zenoh filters nothing, so all messages come."""

    filter_expression: str
    expression_parameters: list[str]
