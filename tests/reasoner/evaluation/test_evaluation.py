"""Written missions in the simulated deployment: the bars of the offline planner, and the same run over a model."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openral_core.errors import ManifestError, UsageError
from openral_reasoner.evaluation.commands import reasoner
from openral_reasoner.evaluation.score import ModelUnreachedError, evaluate, is_done_wrongly, summary
from openral_reasoner.evaluation.suite import DEFAULT, WORLDS, MissionSuite, load_suite
from openral_reasoner.llm.agent import MissionAgent
from openral_reasoner.llm.fakes import Call, Endpoint
from openral_reasoner.llm.models import build_model
from openral_reasoner.llm.settings import ModelSettings
from openral_reasoner.offline import OfflinePlanner
from openral_reasoner.planner import CannotDo, Plan

BARS = {
    "single": 0.9,
    "multi_step": 0.85,
    "paraphrase": 0.75,
    "impossible": 0.75,
    "negation": 1.0,
    "ambiguous": 0.75,
    "question": 1.0,
    "conditional": 0.9,
    "repetition": 0.75,
}
"""Share of each kind; docs/planner.md has what was measured. None of the missions was training data."""
WRONG = 0.06
"""Share of the missions in which a task may run that was not ordered."""


@pytest.mark.slow
def test_the_offline_planner_keeps_its_bars() -> None:
    rows = evaluate(load_suite())
    assert len(rows) >= 150
    lines = {line["kind"]: line for line in summary(rows)}
    for kind, bar in BARS.items():
        assert lines[kind]["accuracy"] >= bar, [row for row in rows if row.kind == kind and not row.correct]
    assert lines["all"]["wrong_skill_rate"] <= WRONG


LEAST = {"paraphrase": 0.48, "several_steps": 0.65, "impossible": 0.95, "forbidden": 0.97}
"""Share of each kind over all other worlds; docs/planner.md has what was measured, and what was aimed at."""
EVERY = 5
"""One in so many is planned here; docs/planner.md has the figures of all."""
NOT_ORDERED = 0.015
"""Share of the sentences for which a task may run that was not ordered."""


@pytest.mark.parametrize(
    "worlds",
    [pytest.param(WORLDS[::6], marks=pytest.mark.slow), pytest.param(WORLDS, marks=pytest.mark.long)],
    ids=["some", "all"],
)
def test_orders_in_other_worlds(worlds: Sequence[Path]) -> None:
    planner = OfflinePlanner()
    right: dict[str, list[bool]] = {}
    wrong = []
    for suite in map(load_suite, worlds):
        for mission in suite.missions[::EVERY]:
            plan = planner.plan(mission.say, suite.palette)
            done = tuple(task.skill_task for task in plan.tasks) if isinstance(plan, Plan) else ()
            right.setdefault(mission.kind, []).append(done == mission.do)
            if is_done_wrongly(done, mission.do):
                wrong.append(mission.say)
    for kind, least in LEAST.items():
        assert sum(right[kind]) >= least * len(right[kind]), kind
    assert len(wrong) <= NOT_ORDERED * sum(map(len, right.values())), wrong


@pytest.mark.parametrize(
    ("done", "wrong"),
    [
        ((), False),
        (("a",), False),
        (("b",), False),
        (("a", "b"), False),
        (("b", "a"), True),
        (("a", "a"), True),
    ],
)
def test_what_is_done_wrongly(done: tuple[str, ...], wrong: bool) -> None:
    assert is_done_wrongly(done, ("a", "b")) is wrong


def oracle(messages: list[dict], tools: list[dict]) -> Call:
    """A model that knows one sentence, and says no to the others."""
    order = re.search(r"<order>(.*)</order>", str(messages[1]["content"]))[1]
    replies = [m for m in messages if m["role"] == "tool"]
    if order != "close the window if it is open":
        return ("finish_mission", {"done": False, "words": "I cannot do this"})
    if not replies:
        return ("query_task_progress", {"task": "open the window"})
    if len(replies) == 1 and "progress 0.97" in replies[0]["content"]:
        return ("execute_skill__openral__rskill-table", {"task": "window-close", "why": "it is open"})
    return ("finish_mission", {"done": True, "words": "it is closed"})


def test_a_model_is_scored_on_the_same_rows() -> None:
    whole = load_suite()
    suite = MissionSuite(
        whole.palette, tuple(m for m in whole.missions if m.kind in ("conditional", "question"))
    )
    with Endpoint(oracle) as endpoint:
        settings = ModelSettings(model="openai:oracle", base_url=endpoint.url)
        rows = evaluate(
            suite,
            make_agent=lambda desk: MissionAgent(lambda: build_model(settings, {}), settings, desk),
            who="oracle",
        )
    right = [row.say for row in rows if row.correct and row.done]
    assert right == ["close the window if it is open"]
    assert all(row.wrong == 0 for row in rows)
    assert [row.state for row in rows if row.kind == "question"] == ["failed"] * 4


def test_the_command_prints_a_table_and_writes_rows(tmp_path) -> None:
    suite = tmp_path / "suite.yaml"
    text = DEFAULT.read_text()
    begin, end = text.index("  multi_step:"), text.index("  question:")
    suite.write_text(text[:begin] + text[end : text.index("  conditional:")])
    out = tmp_path / "out" / "eval.json"
    result = CliRunner().invoke(reasoner, ["eval", "--suite", str(suite), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert re.search(r"single +24 +24 +1\.00", result.output)
    written = json.loads(out.read_text())
    assert [line["kind"] for line in written["summary"]] == ["single", "question", "all"]
    assert len(written["rows"]) == 28


def test_what_the_command_says_goes_before_the_environment(tmp_path, monkeypatch) -> None:
    text = DEFAULT.read_text()
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        text[: text.index("  single:")] + text[text.index("  question:") : text.index("  conditional:")]
    )
    monkeypatch.setenv("OPENRAL_REASONER_MODEL", "openai:another")
    monkeypatch.setenv("OPENRAL_REASONER_BASE_URL", "http://127.0.0.1:9/v1")
    with Endpoint(oracle) as endpoint:
        words = ["eval", "--suite", str(suite), "--model", "openai:oracle", "--base-url", endpoint.url]
        result = CliRunner().invoke(reasoner, words)
    assert result.exit_code == 0, result.output
    assert "planner: openai:oracle" in result.output
    assert endpoint.requests >= 4


def test_the_name_of_a_model_is_no_markup(tmp_path) -> None:
    with Endpoint(oracle) as endpoint:
        words = [
            "--suite",
            str(few_sentences(tmp_path)),
            "--model",
            "openai:[b]a[/x]",
            "--base-url",
            endpoint.url,
        ]
        result = CliRunner().invoke(reasoner, ["eval", *words])
    assert result.exit_code == 0, result.exception
    assert "planner: openai:[b]a[/x]" in result.output


def few_sentences(folder: Path) -> Path:
    """A suite of the four missions of the kind `question`."""
    text, suite = DEFAULT.read_text(), folder / "suite.yaml"
    begin, end = text.index("  question:"), text.index("  conditional:")
    suite.write_text(text[: text.index("  single:")] + text[begin:end])
    return suite


def test_a_model_that_is_not_there_is_not_scored_as_the_offline_planner(tmp_path) -> None:
    with Endpoint(oracle) as closed:
        address = closed.url
    out = tmp_path / "eval.json"
    words = ["eval", "--suite", str(few_sentences(tmp_path)), "--model", "openai:foo", "--base-url", address]
    result = CliRunner().invoke(reasoner, [*words, "--out", str(out)])
    assert isinstance(result.exception, ModelUnreachedError)
    assert str(result.exception).startswith(f"openai:foo at {address}")
    assert "did not answer: Connection error" in str(result.exception)
    assert "planner:" not in result.output
    assert not out.exists()


def test_a_model_that_refuses_the_key_is_not_scored_and_its_answer_is_told(tmp_path) -> None:
    class Refusal(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_error(401, "wrong key")

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        words = ["eval", "--suite", str(few_sentences(tmp_path)), "--model", "openai:foo"]
        result = CliRunner().invoke(reasoner, [*words, "--base-url", address])
        server.shutdown()
    assert isinstance(result.exception, ModelUnreachedError)
    assert address in str(result.exception)
    assert "401" in str(result.exception)


def test_the_table_says_how_many_sentences_were_left_to_the_offline_planner(tmp_path) -> None:
    def sometimes(messages: list[dict], tools: list[dict]) -> Call:
        first = suite.missions[0].say in str(messages[1]["content"])
        return ("finish_mission", {"done": False, "words": "no"}) if first else ("no_such_tool", {})

    file, out = few_sentences(tmp_path), tmp_path / "eval.json"
    suite = load_suite(file)
    with Endpoint(sometimes) as endpoint:
        words = ["eval", "--suite", str(file), "--model", "openai:foo", "--base-url", endpoint.url]
        result = CliRunner().invoke(reasoner, [*words, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert result.output.count("was left to the offline planner") == 3
    written = json.loads(out.read_text())
    assert written["summary"][-1]["fallbacks"] == 3
    assert [bool(row["fallback"]) for row in written["rows"]] == [False, True, True, True]


def test_a_suite_with_an_unknown_task_names_the_mission(tmp_path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(DEFAULT.read_text().replace("do: [table-wipe]", "do: [table-lick]", 1))
    with pytest.raises(ManifestError, match=r"'wipe the table': no skill has \['table-lick'\]"):
        load_suite(suite)


def test_sentences_without_a_task_are_refused() -> None:
    palette = load_suite().palette
    for sentence in ("do it again", "help me", "please", "and then"):
        assert isinstance(OfflinePlanner().plan(sentence, palette), CannotDo), sentence


@pytest.mark.parametrize(
    ("written", "instead", "why"),
    [
        ("drawer-open: [open the drawer, ", "drawer-open: open the drawer #", "tasks.drawer-open"),
        ("drawer-open: [open the drawer, ", "drawer-open: [1, ", "tasks.drawer-open"),
        ("actions: [open, close, push]", "actions: open", "actions of table"),
        ("do: [table-wipe]", "do: table-wipe", "do"),
    ],
)
def test_one_text_in_the_place_of_a_list_is_refused(
    tmp_path: Path, written: str, instead: str, why: str
) -> None:
    text, suite = DEFAULT.read_text(), tmp_path / "suite.yaml"
    assert written in text
    suite.write_text(text.replace(written, instead, 1))
    with pytest.raises(ManifestError, match=rf"{why}: .* has to be a list of texts"):
        load_suite(suite)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "is no suite, which has `skills` and `missions`"),
        ("[1]", "is no suite, which has `skills` and `missions`"),
        ('{"a": 1}', "is no suite, which has `skills` and `missions`"),
        ('{"skills": [1], "missions": {}}', "an entry is not in the form of a suite"),
        ('{"skills": [], "missions": {"single": [{"do": []}]}}', "an entry lacks the key 'say'"),
        ('{"skills": [], "missions": {}}', "has no missions"),
        ('{"skills": [], "missions": {"single": []}}', "has no missions"),
        (
            '{"skills": [], "missions": {"single": [{"say": "go", "do": [], "answer": true}]}}',
            "missions.single: answer is True, and has to be a text",
        ),
        (
            '{"skills": [], "missions": {"single": [{"say": 5, "do": []}]}}',
            "missions.single: say is 5, and has to be a text",
        ),
    ],
)
def test_a_file_that_is_no_suite_is_told_in_plain_words(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "suite.json").write_text(content)
    error = CliRunner().invoke(reasoner, ["eval", "--suite", str(tmp_path / "suite.json")]).exception
    assert isinstance(error, ManifestError)
    assert why in str(error)
    assert "Error" not in str(error)


@pytest.mark.parametrize(
    ("words", "begin"),
    [
        (("--model", "foo"), "--model 'foo': is not in its form; write provider:name"),
        (
            ("--base-url", "http://127.0.0.1:8000/v1"),
            "--base-url needs --model; ",
        ),
        (
            ("--model", "openai:foo", "--base-url", "x"),
            "--base-url 'x': is not in its form; write the address",
        ),
    ],
)
def test_what_is_no_model_is_told_by_its_option(words: tuple[str, ...], begin: str) -> None:
    error = CliRunner().invoke(reasoner, ["eval", *words]).exception
    assert isinstance(error, UsageError)
    assert str(error).startswith(begin)
