"""The module `launch.logging` and the typed values of `launch.utilities.type_utils`."""

from __future__ import annotations

import logging
import re
from typing import List  # noqa: UP035

import pytest

import launch.logging
from launch import LaunchContext
from launch.frontend import parse_if_substitutions
from launch.substitutions import TextSubstitution
from launch.utilities import type_utils

config = launch.logging.launch_config


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("OVERRIDE_LAUNCH_SCREEN_FORMAT", raising=False)
    monkeypatch.delenv("OVERRIDE_LAUNCH_LOG_FORMAT", raising=False)
    launch.logging.reset()
    config.log_dir = str(tmp_path)
    yield tmp_path
    launch.logging.reset()


def text(folder, name="launch.log"):
    path = folder / name
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize(
    ("output", "screen", "log", "own"),
    [
        ("screen", "foo bar", "", {}),
        ("log", "bar", "foo bar", {}),
        ("both", "foo bar", "foo bar", {}),
        ("own_log", "", "", {"-stdout": "foo", "-stderr": "bar", "": "foo bar"}),
        ("full", "foo bar", "foo bar", {"-stdout": "foo", "-stderr": "bar", "": "foo bar"}),
        ({"stdout": {"screen"}, "stderr": {"own_log"}}, "foo", "", {"-stderr": "bar"}),
    ],
)
def test_where_lines_go(folder, capsys, output, screen, log, own):
    out, err = launch.logging.get_output_loggers("proc", output)
    out.info("foo")
    err.info("bar")
    assert capsys.readouterr().out.split() == screen.split()
    assert re.findall(r"^\d+\.\d+ (\w+)$", text(folder), re.MULTILINE) == log.split()
    for suffix in ("-stdout", "-stderr", ""):
        assert text(folder, f"proc{suffix}.log").split() == own.get(suffix, "").split()


@pytest.mark.parametrize("output", ["nowhere", {"garbage": {"log"}}, {"stdout": {"garbage"}}])
def test_unknown_outputs(folder, output):
    with pytest.raises(ValueError, match="output"):
        launch.logging.get_output_loggers("proc", output)


def test_formats(folder, capsys, monkeypatch):
    logger = launch.logging.get_logger("me")
    logger.error("one")
    config.set_screen_format("default_with_timestamp")
    logger.error("two")
    config.set_screen_format("%(name)s says %(message)s", screen_style="%")
    logger.error("three")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[ERROR] [me]: one"
    assert re.fullmatch(r"\d+\.\d+ \[ERROR\] \[me\]: two", lines[1])
    assert lines[2] == "me says three"
    assert re.match(r"\d+\.\d+ \[ERROR\] \[me\]: one\n", text(folder))
    monkeypatch.setenv("OVERRIDE_LAUNCH_SCREEN_FORMAT", "{message}!")
    config.set_screen_format("default")
    logger.error("four")
    assert capsys.readouterr().out == "four!\n"


@pytest.mark.parametrize("name", ["default", "default_with_timestamp"])
def test_known_formats_take_no_style(folder, name):
    with pytest.raises(ValueError, match="style"):
        config.set_screen_format(name, screen_style="%")
    with pytest.raises(ValueError, match="style"):
        config.set_log_format(name, log_style="%")


def test_level_is_that_of_all_loggers(folder, capsys):
    logger = launch.logging.get_logger("me")
    config.level = logging.ERROR
    logger.warning("quiet")
    assert launch.logging.get_logger("other").getEffectiveLevel() == logging.ERROR
    assert capsys.readouterr().out == ""


def test_directory(tmp_path, monkeypatch):
    launch.logging.reset()
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "logs"))
    with pytest.raises(ValueError, match="not a directory"):
        config.log_dir = "no/such/folder"
    directory = config.log_dir
    assert directory.startswith(str(tmp_path / "logs"))
    assert (tmp_path / "logs" / "latest").resolve() == (tmp_path / "logs" / directory).resolve()
    assert launch.logging._renew_latest_log_dir(log_dir=directory)
    launch.logging.reset()
    (tmp_path / "other" / "latest").mkdir(parents=True)
    assert not launch.logging._renew_latest_log_dir(log_dir=str(tmp_path / "other" / "now"))


def test_handlers_of_ones_own(folder):
    written = []

    class Keeps(launch.logging.handlers.Handler):
        def emit(self, record):
            written.append(self.format(record))

    config.log_handler_factory = lambda path, encoding=None: Keeps()
    config.set_log_format("{message}")
    launch.logging.get_logger("me").error("kept")
    assert written == ["kept"]


def test_a_handler_formats_loggers_differently():
    handler = launch.logging.handlers.StreamHandler()
    special, usual = logging.getLogger("special"), logging.getLogger("usual")
    formatter = logging.Formatter("<{message}>", style="{")
    handler.setFormatterFor(special, formatter)
    record = special.makeRecord("special", logging.INFO, "f", 1, "text", (), None)
    assert handler.getFormatterFor(special) is formatter
    assert handler.getFormatterFor(usual) is handler.formatter
    assert handler.format(record) == "<text>"
    handler.unsetFormatterFor(special)
    assert handler.format(record) == "text"
    with pytest.raises(AttributeError):
        launch.logging.handlers.NoSuchThing  # noqa: B018


class TestTypes:
    def test_what_a_type_is(self):
        assert type_utils.is_typing_list(List[int])  # noqa: UP006
        assert not type_utils.is_typing_list(list)
        assert type_utils.extract_type(List[float]) == (float, True)  # noqa: UP006
        assert type_utils.extract_type(bool) == (bool, False)
        for wrong in (set, List[List[int]]):  # noqa: UP006
            with pytest.raises(ValueError):  # noqa: PT011
                type_utils.extract_type(wrong)

    @pytest.mark.parametrize(
        ("value", "kind", "expected"),
        [
            (1, int, True),
            (1, float, False),
            ([1, 2], List[int], True),  # noqa: UP006
            ([1, 2.0], List[int], False),  # noqa: UP006
            ([], List[str], True),  # noqa: UP006
        ],
    )
    def test_instances(self, value, kind, expected):
        assert type_utils.is_instance_of(value, kind) is expected

    @pytest.mark.parametrize(
        ("text", "kind", "expected"),
        [
            ("1", int, 1),
            ("1.5", float, 1.5),
            ("on", bool, True),
            ("x", str, "x"),
            ("1", None, 1),
            ("[1, 2]", List[int], [1, 2]),  # noqa: UP006
        ],
    )
    def test_values_in_text(self, text, kind, expected):
        assert type_utils.get_typed_value(text, kind) == expected

    def test_text_that_is_no_such_value(self):
        for text, kind in (("x", int), ("maybe", bool), ("1", List[int])):  # noqa: UP006
            with pytest.raises(ValueError):  # noqa: PT011
                type_utils.get_typed_value(text, kind)

    def test_substitutions_become_values(self):
        context = LaunchContext()
        parts = [TextSubstitution(text="1"), TextSubstitution(text="2")]
        number = type_utils.normalize_typed_substitution(parts, None)
        assert type_utils.perform_typed_substitution(context, number, int) == 12
        listed = type_utils.normalize_typed_substitution([[part] for part in parts], List[int])  # noqa: UP006
        assert type_utils.perform_typed_substitution(context, listed, List[int]) == [1, 2]  # noqa: UP006
        with pytest.raises(TypeError):
            type_utils.normalize_typed_substitution(1, float)


def test_lists_in_markup_hold_one_type():
    assert parse_if_substitutions([1, 2]) == [1, 2]
    assert parse_if_substitutions("a") == "a"
    mixed = parse_if_substitutions(["$(env NOPE 1)", 2])
    assert mixed[1] == 2
    with pytest.raises(ValueError, match="several types"):
        parse_if_substitutions(["$(env NOPE 1)", 1, 1.0])
