"""What is known of a run is added to, and never lost where it cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from openral_core.files.finished_run_folder import FACTS_FILE, add_facts, load_facts


def test_facts_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    add_facts(tmp_path, scene="drawer", robot="panda")
    add_facts(tmp_path, film_begin_s=2.0, robot="sawyer")
    assert load_facts(tmp_path) == {"scene": "drawer", "robot": "sawyer", "film_begin_s": 2.0}
    assert [path.name for path in tmp_path.iterdir()] == [FACTS_FILE]


@pytest.mark.parametrize(
    "content", [b'{"scene": "drawer", ', b'["drawer"]', b"\xff\xfe", b"", b"[" * 100_000]
)
def test_a_file_that_cannot_be_understood_is_kept_beside_the_new_one(content: bytes, tmp_path: Path) -> None:
    (tmp_path / FACTS_FILE).write_bytes(content)
    assert load_facts(tmp_path) == {}
    add_facts(tmp_path, film_begin_s=2.0)
    assert load_facts(tmp_path) == {"film_begin_s": 2.0}
    assert (tmp_path / f"{FACTS_FILE}.damaged").read_bytes() == content


def test_a_file_that_may_not_be_read_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FACTS_FILE).mkdir()
    with pytest.raises(OSError, match=r"run\.json"):
        add_facts(tmp_path, film_begin_s=2.0)
    assert [path.name for path in tmp_path.iterdir()] == [FACTS_FILE]
