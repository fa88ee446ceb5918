"""Texts from elsewhere: expressions that reach for more than they may, and output without an end of line."""

from __future__ import annotations

from pathlib import Path

import pytest

from launch import LaunchContext
from launch.logging import ProcessOutput
from launch.substitutions import PythonExpression, SubstitutionFailure

# A generator's frame leads to that of the evaluation, whose globals have the module importlib.
FRAMES = (
    "[[l.append((l[0].gi_frame.f_back.f_back.f_back.f_globals for _ in [1])), list(l[0])] for l in [[]]]"
    "[0][1][0]['importlib'].import_module('os').getpid()"
)


@pytest.mark.parametrize(
    ("text", "module"),
    [
        (FRAMES, "math"),
        ("(x for x in [1]).gi_code", "math"),
        ("string.Formatter().get_field('0.__class__.__base__.__subclasses__', ((),), {})[0]()", "string"),
        ("string.Formatter().vformat('{0.__class__}', ((),), {})", "string"),
        ("'{0.__class__}'.format(())", "math"),
        ("().__class__", "math"),
    ],
)
def test_an_expression_stays_within_its_names(text: str, module: str) -> None:
    with pytest.raises(SubstitutionFailure, match="is not allowed"):
        PythonExpression(text, [module]).perform(LaunchContext())


def test_what_expressions_are_for_still_works() -> None:
    for text, module, value in (
        ("sum(x * x for x in range(4))", "math", "14"),
        ("string.capwords('a b')", "string", "A B"),
        ("'left_arm'.replace('left', 'right')", "math", "right_arm"),
    ):
        assert PythonExpression(text, [module]).perform(LaunchContext()) == value


def test_output_without_an_end_of_line_does_not_gather(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))
    shown: list[str] = []

    def show(line: str) -> str:
        shown.append(line)
        return ""

    output = ProcessOutput("progress-1", "log", show)
    for _ in range(300):
        output.feed("stdout", b"\r" + b"x" * 999)
    assert shown
    assert max(map(len, shown)) < 70_000
    output.feed("stdout", b"end\n")
    output.close()
    assert sum(map(len, shown)) == 300_003
