"""A language model directs a mission: what it may do, what it is told, and how it ends when it breaks."""

from __future__ import annotations

import contextlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from agent_table import PATIENCE_S, TOOL, Table, skill

from openral_core.errors import InstallationError, ManifestError
from openral_core.instant import Instant
from openral_reasoner.deployment import Deployment
from openral_reasoner.llm.agent import MissionAgent
from openral_reasoner.llm.factory import agent_maker
from openral_reasoner.llm.fakes import Call, Endpoint, Script
from openral_reasoner.llm.models import build_model
from openral_reasoner.llm.settings import ModelSettings, api_key, model_settings
from openral_reasoner.mission.agent_gate import SteeringLimits
from openral_reasoner.mission.agent_requests import MissionOver, RequestQueue, Say
from openral_reasoner.mission.mission import MissionState
from openral_reasoner.palette import Palette
from openral_reasoner.tools.skill_tools import skill_tool_name

OPEN = (TOOL, {"task": "drawer-open-v3", "why": "it was ordered"})
CLOSE = (TOOL, {"task": "drawer-close-v3", "why": "it was ordered"})


def finish(done: bool = True, words: str = "that was it", **more: object) -> Call:
    return ("finish_mission", {"done": done, "words": words, **more})


def replies(brain: Script) -> list[str]:
    """What the model read from its tools, in order."""
    return [m["content"] for m in brain.seen[-1] if m["role"] == "tool"]


def test_steps_run_one_by_one_and_the_mission_is_done() -> None:
    brain = Script([("decompose_mission", {"steps": ["open it", "close it"]}), OPEN, CLOSE, finish()])
    table = Table(brain)
    table.say("open the drawer, then close it")
    assert [goal.instruction for goal in table.sent] == ["open the drawer", "close the drawer"]
    assert table.director.mission.state is MissionState.DONE
    assert table.words("steps") == ["open it; close it"]
    assert all("verified by the reward monitor" in text for text in replies(brain)[1:])


def test_the_next_mission_has_a_model_too() -> None:
    """An endpoint keeps its connections open, and each mission's conversation has an event loop of its own."""
    table = Table(Script([OPEN, finish(), CLOSE, finish()]))

    def two_are_done() -> bool:
        if table.director.mission.state.ended and len(table.sent) == 1:
            table.order("close the drawer", "second")
        return table.director.mission.state.ended and len(table.sent) == 2

    table.say("open the drawer", until=two_are_done)
    assert table.words("model") == ["fake plans step by step"] * 2
    assert [goal.instruction for goal in table.sent] == ["open the drawer", "close the drawer"]
    assert table.director.mission.state is MissionState.DONE


def test_done_is_not_done_when_the_monitor_saw_nothing() -> None:
    table = Table(Script([OPEN, finish(words="the drawer is open")]), works=lambda goal: False)
    table.say("open the drawer")
    assert table.director.mission.state is MissionState.FAILED
    assert 'called done, but "open the drawer" was not' in table.director.mission.message
    assert len(table.sent) == 1, "another way is the model's own choice"


def test_a_task_that_works_the_second_time_counts() -> None:
    table = Table(Script([OPEN, OPEN, finish()]), works=lambda goal: goal.key > 1)
    table.say("open the drawer")
    assert table.director.mission.state is MissionState.DONE
    assert len(table.sent) == 2


def test_what_is_not_offered_is_refused_in_words() -> None:
    brain = Script(
        [
            (TOOL, {"task": "juggle", "why": ""}),
            (TOOL, {"task": "drawer-open-v3", "instruction": "a\nb", "why": ""}),
            (TOOL, {"task": "drawer-open-v3", "instruction": "x" * 201, "why": ""}),
            finish(False, "I can open and close the drawer"),
        ]
    )
    table = Table(brain)
    table.say("juggle")
    assert table.sent == []
    assert "has no task 'juggle'; it has drawer-open-v3, drawer-close-v3" in replies(brain)[0]
    assert all("one line of 1 to 200 characters" in text for text in replies(brain)[1:])
    assert table.director.mission.state is MissionState.FAILED


def test_limits_on_tasks_repeats_and_questions() -> None:
    brain = Script([OPEN, OPEN, OPEN, CLOSE, CLOSE, ("ask_operator", {"question": "why?"}), finish()])
    table = Table(brain, limits=SteeringLimits(max_tasks=3, max_repeats=2, max_questions=0))
    table.say("open and close")
    said = replies(brain)
    assert "2 times in a row" in said[2]
    assert "at most 3 tasks" in said[4]
    assert "at most 0 questions" in said[5]
    assert len(table.sent) == 3


def test_a_question_is_answered_by_the_next_prompt() -> None:
    brain = Script([("ask_operator", {"question": "the upper or the lower one?"}), OPEN, finish()])
    table = Table(brain)

    def answer() -> bool:
        if table.planning.question:
            assert table.planning.operator_says("the upper one")
        return table.director.mission.state.ended

    table.say("open the drawer", until=answer)
    assert table.words("question") == ["the upper or the lower one? (60 s for an answer)"]
    assert 'the operator answered: "the upper one"' in replies(brain)[0]
    assert not table.planning.operator_says("hello")


def test_looking_asking_the_monitor_and_notes(tmp_path) -> None:
    notes = tmp_path / "notes.txt"
    brain = Script(
        [
            ("look", {"camera": "corner2"}),
            ("query_task_progress", {"task": "open the drawer"}),
            ("remember", {"note": "the drawer sticks"}),
            ("recall", {"about": "drawer"}),
            finish(nothing_to_do=True),
        ]
    )
    table = Table(brain, picture="a drawer", memory=notes)
    table.say("if the drawer is open, close it")
    assert "progress 0.10" in replies(brain)[1]
    assert replies(brain)[3].startswith("the drawer sticks (language model, ")
    images = [m for m in brain.seen[-1] if m["role"] == "user" and "image_url" in str(m["content"])]
    assert len(images) == 1
    assert table.director.mission.state is MissionState.DONE
    assert table.director.mission.message == "nothing had to be done: that was it"
    assert "the drawer sticks" in notes.read_text()


@pytest.mark.parametrize("call", [finish(nothing_to_do=True), finish()], ids=["not seen", "not said"])
def test_a_mission_without_a_task_is_done_only_if_nothing_to_do_is_said_and_was_seen(call: Call) -> None:
    looked = [] if call[1].get("nothing_to_do") else [("query_task_progress", {"task": "open the drawer"})]
    table = Table(Script([*looked, call]))
    table.say("if the drawer is open, close it")
    assert table.director.mission.state is MissionState.FAILED
    assert "no skill was run" in table.director.mission.message


def test_an_endpoint_that_is_not_there_gives_way_to_the_offline_planner() -> None:
    table = Table(Script([]), base_url="http://127.0.0.1:9/v1")
    table.say("open the drawer, then close it")
    assert table.director.mission.state is MissionState.DONE
    assert len(table.sent) == 2
    assert any("did not answer" in text for text in table.words("model"))


def test_a_model_that_fails_in_the_middle_fails_the_mission() -> None:
    table = Table(Script([OPEN, ("no_such_tool", {}), *[("no_such_tool", {})] * 5]))
    table.say("open the drawer, then close it")
    assert table.director.mission.state is MissionState.FAILED
    assert "the language model failed" in table.director.mission.message


def test_stop_breaks_off_a_model_that_thinks() -> None:
    thinking = threading.Event()
    table = Table(Script([OPEN]))
    table.endpoint._server.RequestHandlerClass.delay = thinking

    def stop() -> bool:
        if table.director.mission.open_ended:
            table.director.prompt("s", "stop", Instant(table.now, table.now))
        return table.director.mission.state.ended

    table.say("open the drawer", until=stop)
    thinking.set()
    assert table.director.mission.state is MissionState.STOPPED
    assert table.sent == []


class Blanks(BaseHTTPRequestHandler):
    """An endpoint that sends blanks while its model thinks, as some do to keep the connection, and never answers."""

    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b" ")
                time.sleep(0.1)

    def log_message(self, format: str, *args: object) -> None: ...


def test_an_answer_that_does_not_end_is_given_up_although_its_bytes_come() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Blanks)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        settings = ModelSettings(model="openai:fake", base_url=url, request_timeout_s=1.0)
        agent = MissionAgent(lambda: build_model(settings, {}), settings, RequestQueue())
        agent.start("open the drawer", Palette((skill(),)))
        assert agent.ended.result(20.0) == f"openai:fake at {url}/ did not answer: no whole answer within 1 s"
        assert agent.unreached
    finally:
        server.shutdown()
        server.server_close()


def test_a_conversation_that_was_cancelled_before_it_began_asks_nothing() -> None:
    with Endpoint(Script([OPEN])) as endpoint:
        settings = ModelSettings(model="openai:fake", base_url=endpoint.url)
        agent = MissionAgent(lambda: build_model(settings, {}), settings, RequestQueue())
        agent.cancel()
        agent.start("open the drawer", Palette((skill(),)))
        assert agent.ended.result(PATIENCE_S) == "broken off"
        assert endpoint.requests == 0
        agent.cancel()  # its loop is closed


def test_only_who_takes_requests_ends_them() -> None:
    requests = RequestQueue()
    asked = requests.put(Say("the drawer sticks"))
    assert not asked.cancel()
    requests.close("the mission has ended")
    with pytest.raises(MissionOver, match="the mission has ended"):
        asked.result(0)


def test_the_key_is_that_of_the_environment_that_names_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENRAL_REASONER_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    environment = {"OPENRAL_REASONER_MODEL": "openai:a", "OPENRAL_REASONER_API_KEY": "secret"}
    made = agent_maker(Deployment(), environment=environment)
    assert made is not None
    assert made[0] == "openai:a"


def test_tool_names_fit_every_provider() -> None:
    assert skill_tool_name(skill()) == TOOL
    long = skill_tool_name(skill(name=f"owner/{'x' * 200}"))
    assert len(long) == 64
    assert long != skill_tool_name(skill(name=f"owner/{'x' * 199}y"))


def test_settings_come_from_scene_and_environment_and_name_what_is_wrong(tmp_path) -> None:
    assert model_settings({}, {}) is None
    both = model_settings({"model": "openai:a"}, {"OPENRAL_REASONER_MODEL": "openai:b"})
    assert both == ModelSettings(model="openai:b")
    with pytest.raises(ManifestError, match=r"reasoner\.model: .*OPENRAL_REASONER_MODEL"):
        model_settings({"model": "b"}, {})
    with pytest.raises(InstallationError, match="OPENRAL_REASONER_API_KEY"):
        api_key(ModelSettings(model="openai:b"), {})
    key = tmp_path / "key"
    key.write_text("secret\n")
    found = api_key(ModelSettings(model="anthropic:b"), {"OPENRAL_REASONER_API_KEY_FILE": str(key)})
    assert found.get_secret_value() == "secret"
    assert "secret" not in repr(found)


def test_the_file_of_a_key_goes_before_the_providers_own_variable(tmp_path) -> None:
    key = tmp_path / "key"
    key.write_text("for the gateway")
    environment = {"OPENAI_API_KEY": "for openai", "OPENRAL_REASONER_API_KEY_FILE": str(key)}
    settings = ModelSettings(model="openai:b", base_url="https://gateway.example/v1")
    assert api_key(settings, environment).get_secret_value() == "for the gateway"
    environment["OPENRAL_REASONER_API_KEY"] = "first"
    assert api_key(settings, environment).get_secret_value() == "first"


@pytest.mark.parametrize(("content", "why"), [(b"\n", "is empty"), (b"\xff\xfe\x00", "is no text")])
def test_a_file_without_a_key_is_told(tmp_path, content: bytes, why: str) -> None:
    key = tmp_path / "key"
    key.write_bytes(content)
    with pytest.raises(InstallationError, match=f"OPENRAL_REASONER_API_KEY_FILE: {key}: {why}"):
        api_key(ModelSettings(model="openai:b"), {"OPENRAL_REASONER_API_KEY_FILE": str(key)})


@pytest.mark.parametrize("key", ["sk-1\r", "sk-1\n# of the lab", "sk-\u20191"])
def test_a_key_that_no_request_can_carry_is_refused_by_where_it_stands(tmp_path, key: str) -> None:
    for name in ("OPENRAL_REASONER_API_KEY", "OPENAI_API_KEY"):
        with pytest.raises(InstallationError, match=f"^{name}: is no key") as told:
            api_key(ModelSettings(model="openai:b"), {name: key})
        assert "sk-" not in str(told.value)
    file = tmp_path / "key"
    file.write_text("sk-1\n# of the lab\n")
    with pytest.raises(InstallationError, match=f"OPENRAL_REASONER_API_KEY_FILE: {file}: is no key"):
        api_key(ModelSettings(model="openai:b"), {"OPENRAL_REASONER_API_KEY_FILE": str(file)})


def test_a_scene_does_not_decide_where_the_operators_key_is_sent() -> None:
    there = {"model": "openai:a", "base_url": "https://models.example/v1"}
    with pytest.raises(
        ManifestError, match=r"reasoner\.base_url: https://models\.example/v1 is not on this machine"
    ):
        model_settings(there, {"OPENAI_API_KEY": "secret"})
    for url in ("http://127.0.0.1:8000/v1", "http://localhost:8000/v1", "http://[::1]:8000/v1"):
        assert model_settings({**there, "base_url": url}, {}) is not None
    meant = model_settings({"model": "openai:a"}, {"OPENRAL_REASONER_BASE_URL": there["base_url"]})
    assert meant is not None
    assert meant.base_url == there["base_url"]


def test_skills_that_left_the_palette_cannot_be_run() -> None:
    brain = Script([OPEN, finish(False)])
    table = Table(brain)
    table.director.stepwise.find_skill = lambda name: None  # type: ignore[method-assign]
    table.say("open the drawer")
    assert "no skill 'openral/rskill-mini' is deployed, active and allowed here" in replies(brain)[0]
    assert table.sent == []


def test_arguments_that_a_tool_does_not_have_are_refused_in_words() -> None:
    odd = {"task": "drawer-open-v3", "why": "", "camera": "corner2"}
    listed = {"task": ["drawer-open-v3"], "why": ""}
    calls = [(TOOL, odd), (TOOL, listed), ("look", {"camera": {"name": "corner2"}}), finish(False, "no")]
    brain = Script(calls)
    table = Table(brain)
    table.say("open the drawer")
    assert table.sent == []
    assert [text.partition(":")[0] for text in replies(brain)] == ["refused"] * 3
    assert table.words("model")[-1].endswith("plans step by step")
    assert table.director.mission.state is MissionState.FAILED
