"""Lists in windows of any width: nothing is cut, and words are broken after hyphens alone."""

from __future__ import annotations

import re

import pytest
from rich.console import Console
from typer.testing import CliRunner

from openral_benchmark.commands import app as benchmark
from openral_core.cli.listing import RowListing
from openral_core.files.named_files import names_of
from openral_core.suite import SUITE_PATTERNS, Suite, load_suite

ROWS = (
    ("ok", "mini-metaworld", "rlwrld_non_commercial", "open, close", "3"),
    ("ok", "a", "-", "pick up the puck", "12"),
)


def shown(width: int) -> list[str]:
    listing = RowListing("", "skill", "licence", "does", "n", right=("n",))
    for row in ROWS:
        listing.add_row(*row)
    console = Console(width=width, record=True, highlight=False)
    console.print(listing)
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_a_wide_window_has_a_line_for_each_row() -> None:
    assert shown(100) == [
        "    skill           licence                does               n",
        "ok  mini-metaworld  rlwrld_non_commercial  open, close        3",
        "ok  a               -                      pick up the puck  12",
    ]


def test_a_narrower_one_breaks_between_words_first() -> None:
    assert shown(56) == [
        "    skill           licence                does        n",
        "ok  mini-metaworld  rlwrld_non_commercial  open,       3",
        "                                           close",
        "ok  a               -                      pick up    12",
        "                                           the puck",
    ]


def test_then_after_hyphens_but_never_in_a_name() -> None:
    assert shown(46) == [
        "    skill           licence       does       n",
        "ok  mini-metaworld  rlwrld_non_   open,      3",
        "                    commercial    close",
        "ok  a               -             pick up   12",
        "                                  the puck",
    ]


def test_in_one_that_is_too_narrow_for_columns_cells_are_told_by_their_heads() -> None:
    assert shown(34) == [
        "ok mini-metaworld",
        "  licence rlwrld_non_commercial;",
        "  does open, close; n 3",
        "ok a",
        "  does pick up the puck; n 12",
    ]


@pytest.fixture(scope="module")
def suites() -> list[Suite]:
    return [load_suite(name) for name in names_of(SUITE_PATTERNS)]


@pytest.mark.parametrize(
    "columns", ["60", *(pytest.param(columns, marks=pytest.mark.slow) for columns in (None, "80"))]
)
def test_suites_are_listed_whole(
    columns: str | None, suites: list[Suite], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "openral_core.cli.progress.console", Console(width=int(columns or 10_000), highlight=False)
    )
    told = CliRunner().invoke(benchmark, ["list"]).output
    assert "…" not in told
    words = told.replace(";", " ").split()
    for suite in suites:
        first = suite.scenes[0]
        states = f"{first.seed}–{first.seed + first.n_episodes - 1}"
        assert {
            suite.id,
            states,
            first.robot_id,
            str(first.scene.backend_options.get("render_profile")),
        } <= set(words)


@pytest.mark.parametrize("name", [name for name in names_of(SUITE_PATTERNS) if name.startswith("harness")])
def test_what_a_suite_says_of_its_states_are_the_states_that_it_judges(name: str) -> None:
    told = CliRunner().invoke(benchmark, ["list", name]).output
    judged = re.search(r"judged on initial states (\d+) to (\d+)", told)
    scope = re.search(r"(?:Initial states|from the seeds) (\d+) to (\d+), ", told)
    assert judged is not None
    assert scope is not None
    assert judged.groups() == scope.groups()
