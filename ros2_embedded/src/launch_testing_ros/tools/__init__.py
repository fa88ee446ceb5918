"""Comparing what nodes wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import launch_testing.tools

__all__ = ["basic_output_filter"]


def basic_output_filter(
    filtered_prefixes: Iterable[str] | None = None,
    filtered_patterns: Iterable[str] | None = None,
    filtered_rmw_implementation: str | None = None,
) -> Callable[[str], str]:
    """As that of `launch_testing.tools`; the middleware, which prints nothing here, needs no filter."""
    return launch_testing.tools.basic_output_filter(filtered_prefixes, filtered_patterns)
