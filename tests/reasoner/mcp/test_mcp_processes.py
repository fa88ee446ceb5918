"""`openral mcp` as a process beside a reasoner and scripted neighbours: over standard input and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import typer
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_desk import text
from reasoner_graph import PATIENCE_S, Graph, end_of
from typer.testing import CliRunner

from openral_core.errors import InstallationError, UsageError
from openral_core.files.atomic import write_atomically
from openral_reasoner.mcp.commands import mcp
from openral_reasoner.mcp.http import HttpServer
from openral_reasoner.ros.tool_client import ToolClient

RUN = "execute_skill__openral__rskill-fake"
OPEN = {"task": "open-the-drawer", "why": "x"}
OPENRAL = str(Path(sys.executable).parent / "openral")


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    graph = Graph(tmp_path)
    yield graph
    graph.close()


def over_stdio(*options: str) -> StdioServerParameters:
    return StdioServerParameters(command=OPENRAL, args=["mcp", *options], env=dict(os.environ))


def until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)


async def until_offered(client: Client) -> None:
    while RUN not in {tool.name for tool in (await client.list_tools()).tools}:
        await asyncio.sleep(0.05)


async def until_running(client: Client) -> None:
    while '"executes": "open the drawer"' not in text(await client.call_tool("state")):
        await asyncio.sleep(0.05)


def test_a_mission_over_stdio_with_leave_progress_and_an_end(graph: Graph) -> None:
    graph.skill()
    graph.monitor(rise_s=1.0)
    graph.reasoner()
    heard: list[str] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async def play() -> None:
        async with Client(over_stdio()) as client:
            await until_offered(client)
            call = asyncio.ensure_future(client.call_tool(RUN, OPEN, progress_callback=told))
            while not graph.run_dir.exists() or "question" not in {step["kind"] for step in graph.steps()}:
                await asyncio.sleep(0.05)
            operator = graph.prompt("yes")
            assert "verified by the reward monitor" in text(await call)
            await client.call_tool("finish_mission", {"done": True, "words": "it is open"})
            code, output = await asyncio.to_thread(end_of, operator)
            assert (code, "it is open" in output) == (0, True), "the operator's prompt follows the mission"

    asyncio.run(play())
    mission = graph.mission()
    assert (mission["state"], mission["message"]) == ("done", "it is open")
    kinds = [step["kind"] for step in graph.steps() if step["mission"] == mission["id"]]
    assert kinds.count("call") == kinds.count("reply") == 2
    assert any("progress 0." in words for words in heard)


def test_stop_works_in_mid_motion_and_when_the_reasoner_is_gone(graph: Graph) -> None:
    graph.skill()
    graph.monitor(levels=[0.6])
    reasoner = graph.reasoner(**{"gate.default_patience_s": 60.0})

    async def play() -> None:
        async with Client(over_stdio("--approve", "none", "--patience", "2")) as client:
            await until_offered(client)
            call = asyncio.ensure_future(client.call_tool(RUN, OPEN))
            await until_running(client)
            assert not (await client.call_tool("stop", {"why": "enough"})).is_error
            assert "stopped by mcp 0.1.0: enough" in text(await call)
            again = asyncio.ensure_future(client.call_tool(RUN, OPEN))
            await until_running(client)
            reasoner.kill()
            told = await client.call_tool("stop")
            assert "1 skills were told to stop from here" in text(told)
            ended = text(await again)  # by whether its end was noticed before or after the stop was told
            assert "went away during the call" in ended or "no reasoner answers" in ended
            assert "no reasoner answers" in text(await client.call_tool("state"))

    asyncio.run(play())


CLIENT = """
import asyncio, json, sys
from mcp import Client, StdioServerParameters
async def main():
    command, *args = json.loads(sys.argv[1])
    async with Client(StdioServerParameters(command=command, args=args, env=json.loads(sys.argv[2]))) as client:
        while sys.argv[3] not in {tool.name for tool in (await client.list_tools()).tools}:
            await asyncio.sleep(0.1)
        await client.call_tool(sys.argv[3], json.loads(sys.argv[4]))
asyncio.run(main())
"""


def test_a_client_that_is_killed_in_mid_motion_ends_the_mission(graph: Graph) -> None:
    graph.skill()
    graph.monitor(levels=[0.6])
    graph.reasoner(**{"gate.default_patience_s": 60.0})
    marked = {**os.environ, "MCP_TEST": str(graph.run_dir)}
    words = [json.dumps([OPENRAL, "mcp", "--approve", "none"]), json.dumps(marked), RUN, json.dumps(OPEN)]
    with subprocess.Popen([sys.executable, "-c", CLIENT, *words], stderr=subprocess.DEVNULL) as client:
        graph.wait_for("reading")
        client.kill()
        until(lambda: graph.mission()["state"] == "stopped", "the end of the mission")
    assert graph.mission()["message"].startswith("stopped: mcp 0.1.0 ")
    assert graph.mission()["tasks"][0]["state"] == "abandoned"


def start_http(graph: Graph, *options: str) -> tuple[subprocess.Popen[str], str, Path]:
    """Start the server on a free port; return it, its URL and the file of its token."""
    token = graph.run_dir.parent / "token"
    process = subprocess.Popen(
        [OPENRAL, "mcp", "--http", "--port", "0", "--token-file", str(token), *options],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    return process, process.stderr.readline().split()[2].rstrip(","), token


@asynccontextmanager
async def over_http(url: str, token: str) -> Any:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_S) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def test_http_needs_the_token_and_no_web_page_gets_in(graph: Graph) -> None:
    graph.skill()
    graph.monitor(levels=[0.6])
    graph.reasoner(**{"gate.default_patience_s": 60.0})
    process, url, file = start_http(graph, "--approve", "none")

    async def play() -> None:
        token = file.read_text()
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        json_only = {"Accept": "application/json, text/event-stream"}
        right = {"Authorization": f"Bearer {token}", **json_only}
        async with httpx2.AsyncClient() as http:
            for headers in (
                json_only,
                {**json_only, "Authorization": "Bearer"},
                {**json_only, "Authorization": f"Bearer {token[:-1]}x"},
                {**json_only, "Authorization": token},
            ):
                assert (await http.post(url, json=body, headers=headers)).status_code == 401
                assert (await http.get(url, headers=headers)).status_code == 401
            web = {**right, "Origin": "http://evil.example"}
            assert (await http.post(url, json=body, headers=web)).status_code == 403
            assert (
                await http.post(url, json=body, headers={**right, "Host": "evil.example"})
            ).status_code == 421
        async with over_http(url, token) as client:
            await until_offered(client)
            call = asyncio.ensure_future(client.call_tool(RUN, OPEN))
            await until_running(client)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            while '"state": "stopped"' not in text(await client.call_tool("state")):
                await asyncio.sleep(0.05)

    try:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        asyncio.run(play())
        assert graph.mission()["message"] == "stopped: mcp 0.1.0 broke off its call"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)
    assert not file.exists(), "the token goes with the server"


@pytest.mark.slow
@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM])
def test_the_token_goes_with_the_server_however_it_is_ended(graph: Graph, ends: signal.Signals) -> None:
    process, url, file = start_http(graph)
    try:
        until(lambda: httpx2.get(url).status_code == 401, "the server")
        assert file.read_text()
        process.send_signal(ends)
        process.wait(PATIENCE_S)
    finally:
        process.kill()
    assert not file.exists()


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_just_after_the_token_was_written_takes_it_away(
    ends: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written(path: Path, content: str, **how: bool) -> None:
        write_atomically(path, content, **how)
        signal.raise_signal(ends)

    monkeypatch.setattr("openral_reasoner.mcp.http.write_atomically", written)
    before = signal.getsignal(signal.SIGTERM)
    app = typer.Typer()
    app.command()(mcp)
    try:
        done = CliRunner().invoke(app, ["--http", "--port", "0", "--token-file", str(tmp_path / "token")])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert list(tmp_path.iterdir()) == []
    assert (done.exit_code, done.stderr) == (0, "openral mcp: interrupted\n")


@pytest.mark.slow
def test_no_token_is_left_where_the_graph_cannot_be_joined(tmp_path: Path) -> None:
    file = tmp_path / "token"
    ended = subprocess.run(
        [OPENRAL, "mcp", "--http", "--port", "0", "--token-file", str(file)],
        env={**os.environ, "ROS_DOMAIN_ID": "no number"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: ROS_DOMAIN_ID='no number' ")
    assert not file.exists()


@pytest.mark.slow
def test_without_a_reasoner_the_user_is_told_and_again_when_it_comes(graph: Graph) -> None:
    server, other = (
        subprocess.Popen(
            [OPENRAL, "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for options in ([], ["--namespace", "arm2"])
    )
    try:
        assert server.stderr is not None
        assert other.stderr is not None
        for stderr, space, option in (
            (server.stderr, "/openral", ""),
            (other.stderr, "/arm2", " --namespace /arm2"),
        ):
            said = stderr.readline()
            assert said.startswith(
                f"openral mcp: no reasoner answers in the namespace {space}; start a deployment"
            )
            assert f"`openral deploy sim{option}`" in said
        graph.reasoner()
        assert server.stderr.readline() == "openral mcp: the reasoner in /openral is there now\n"
        output, _ = server.communicate("", timeout=PATIENCE_S)
        assert (server.returncode, output) == (0, ""), "standard output belongs to the protocol"
    finally:
        for process in (server, other):
            process.kill()
            process.communicate()


@pytest.mark.parametrize("option", [["--address", "1.2.3.4"], ["--port", "1234"], ["--token-file", "token"]])
def test_options_of_http_are_not_taken_in_silence_without_it(option: list[str]) -> None:
    app = typer.Typer()
    app.command()(mcp)
    error = CliRunner().invoke(app, option).exception
    assert str(error) == f"{option[0]} needs --http; without it standard input and output are served"


@pytest.mark.parametrize("address", ["0.0.0.0", "192.0.2.1", "::", "localhost.example"])
def test_no_other_address_than_loopback_is_served(address: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"--address {address}: only loopback is served"):
        HttpServer(address, 0, tmp_path / "token")
    assert not (tmp_path / "token").exists()


def test_a_folder_in_the_place_of_the_tokens_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InstallationError, match=f"--token-file {tmp_path}: is a folder; name a file in it"):
        HttpServer("127.0.0.1", 0, tmp_path)


@pytest.mark.slow
def test_a_refusal_of_the_command_is_one_line() -> None:
    command = [OPENRAL, "mcp", "--http", "--address", "0.0.0.0"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: --address 0.0.0.0: ")
    assert ended.stderr.count("\n") == 1


def test_agents_of_two_containers_have_sessions_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)  # as of the first process of each container

    async def session() -> str:
        client = ToolClient(approve_each=False, patience_s=0.1, say=lambda words: None, namespace="/alone")
        async with client:
            return client.session

    assert asyncio.run(session()) != asyncio.run(session())


def test_a_stop_needs_no_reasoner_however_short_one_is_waited_for() -> None:
    async def stop() -> str:
        async def told(words: str) -> None:
            pass

        client = ToolClient(approve_each=False, patience_s=0.1, say=lambda words: None, namespace="/alone")
        async with client:
            return (await client.call("an agent", "stop", {}, told)).text

    assert asyncio.run(stop()) == "no reasoner answered; 0 skills were told to stop from here"
