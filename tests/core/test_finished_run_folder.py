"""What is known of a run is added to, and never lost where it cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from openral_core.errors import ManifestError
from openral_core.files.finished_run_folder import FACTS_FILE, add_facts, load_facts, number_of
from openral_core.mission_record import STEPS_FILE, load_steps


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


@pytest.mark.parametrize("value", ["1" + "0" * 400, "1e400", "NaN", "true", '"0.8"', "[0.8]", "null"])
def test_what_is_no_finite_number_in_the_facts_is_none(value: str, tmp_path: Path) -> None:
    (tmp_path / FACTS_FILE).write_text(f'{{"thresholds": {{"success": {value}, "dwell": 3}}}}')
    facts = load_facts(tmp_path)
    assert number_of(facts, "thresholds", "success") is None
    assert number_of(facts, "thresholds", "dwell", "more") is None
    assert number_of(facts, "thresholds", "dwell") == 3.0


@pytest.mark.parametrize("stamp_s", ["Infinity", "-1e400", "NaN", "1e308"])
def test_a_step_at_no_time_is_named_with_its_line(stamp_s: str, tmp_path: Path) -> None:
    good = '{"stamp_s": 1.0, "kind": "plan", "reason": "1 task"}'
    (tmp_path / STEPS_FILE).write_text(f"{good}\n{good.replace('1.0', stamp_s)}\n")
    with pytest.raises(ManifestError, match=r"mission\.jsonl:2: stamp_s: .* is no time"):
        load_steps(tmp_path)
