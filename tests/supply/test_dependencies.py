"""docs/dependencies.md is current, and nothing that a deployment needs is under a licence that would bind it."""

from __future__ import annotations

import re
import sys
from importlib import metadata

import dependency_table
import pytest
from dependency_table import PAGE, UNKNOWN, kept, licence, renewed
from packaging.requirements import Requirement

BINDING = re.compile(r"(?<!L)GPL|SSPL|BUSL|Commons Clause|General Public License", re.IGNORECASE)


def test_names_bounds_and_uses_are_those_of_the_projects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependency_table, "licence", lambda name: None)
    page = PAGE.read_text()
    assert renewed(page) == page, "python tools/pages/dependency_table.py"


def test_every_row_has_its_licence_and_its_purpose() -> None:
    rows = kept(PAGE.read_text())
    assert len(rows) > 40
    assert [name for name, columns in rows.items() if UNKNOWN in columns or "" in columns] == []


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="other Pythons get other versions of some")
def test_licences_are_those_that_the_installed_distributions_state() -> None:
    wrong = {name: (on_page, licence(name)) for name, (on_page, _) in kept(PAGE.read_text()).items()}
    assert {name: pair for name, pair in wrong.items() if pair[1] not in (None, pair[0])} == {}


def test_a_new_dependency_without_licence_or_purpose_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependency_table, "requirements", lambda folder: {"": {"no-such-thing": ">=1"}})
    assert f"| `no-such-thing` | >=1 | always | {UNKNOWN} | {UNKNOWN} |" in renewed(PAGE.read_text())


def test_no_licence_of_what_a_deployment_brings_binds_it() -> None:
    pending = [("openral", extra) for extra in ("", "sim", "models", "reasoner", "train")]
    seen, binding = set[tuple[str, str]](), dict[str, str | None]()
    while pending:
        name, extra = pending.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        stated = licence(name)
        if stated is not None and BINDING.search(stated):
            binding[name] = stated
        for line in (metadata.requires(name) or []) if stated is not None else []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                pending += [(requirement.name, more) for more in ("", *requirement.extras)]
    assert len(seen) > 50
    assert binding == {}
