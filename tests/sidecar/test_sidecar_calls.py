"""A client and a server, over real sockets: answers, refusals, deadlines, tokens, ports."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import zmq
from sidecar_echo import echo_parser
from sidecar_helpers import PATIENCE_S, PROGRAM, wait_for

from openral_core.errors import SidecarError
from openral_sidecar.errors import SidecarDown, SidecarRefused, SidecarTimeout, WireError
from openral_sidecar.identity import Identity
from openral_sidecar.paths import run_folder
from openral_sidecar.server import ServerOptions, server_options
from openral_sidecar.server_announcement import announcements
from openral_sidecar.wires import openral as wire
from openral_sidecar.wires.server_socket import reply


def test_a_call_brings_its_answer(start_server, client) -> None:
    _, announced = start_server("--model", "tiny")
    caller = client(announced.endpoint)
    image = np.random.default_rng(0).integers(0, 255, (224, 224, 3), np.uint8)
    back = caller.call("echo", {"image": image, "task": "open"}, timeout_s=PATIENCE_S)
    np.testing.assert_array_equal(back["image"], image)
    hello = caller.call("hello", timeout_s=PATIENCE_S)
    assert Identity(**hello["identity"]) == Identity("tiny") == announced.identity
    assert hello["description"] == {"pid": announced.pid}
    assert announced.arguments == ("--model", "tiny")


def test_the_server_is_told_how_long_a_call_still_waits(client) -> None:
    """Not its whole deadline, of which a part may have passed while another thread's call was running."""
    with zmq.Context() as context, context.socket(zmq.REP) as server:
        server.bind("tcp://127.0.0.1:*")
        server.rcvtimeo = round(1e3 * PATIENCE_S)
        caller = client(server.getsockopt_string(zmq.LAST_ENDPOINT))
        began: list[float] = []

        def call() -> None:
            began.append(time.monotonic())
            caller.call("echo", timeout_s=PATIENCE_S)

        threads = [threading.Thread(target=call) for _ in range(2)]
        told: list[float] = []
        try:
            threads[0].start()
            for number in range(2):
                request = wire.unpack(server.recv())
                told.append(1e-3 * request["wait_ms"])
                if number == 0:
                    threads[1].start()
                    wait_for(lambda: len(began) == 2 and time.monotonic() > began[1] + 0.5, "the second call")
                server.send(reply(request["id"], {}))
        finally:
            for thread in threads:
                thread.join()
    assert PATIENCE_S - 0.4 > told[1] > 0.0


ABANDONED = """
import gc, sys, threading
from openral_sidecar.client import SidecarClient

client = SidecarClient(sys.argv[1])
client.call("echo", {"x": 1}, timeout_s=60.0)
alone = [client]
alone.append(alone)  # as a traceback keeps what its frames hold
del client, alone
gc.collect()
print("collected, beside", threading.active_count() - 1, "threads")
"""


def test_a_client_that_nobody_closed_does_not_stop_the_process_that_forgets_it(start_server) -> None:
    _, announced = start_server()
    command = [sys.executable, "-c", ABANDONED, announced.endpoint]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.stdout == "collected, beside 0 threads\n", done.stderr


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_a_server_on_the_loopback_of_ipv6_is_reached_there(start_server, client) -> None:
    _, announced = start_server("--host", "::1")
    for endpoint in (f"tcp://::1:{announced.port}", f"tcp://[::1]:{announced.port}"):
        assert client(endpoint).call("echo", {"x": 1}, timeout_s=10.0) == {"x": 1}


def test_refusals_carry_a_code_and_the_server_lives_on(start_server, client) -> None:
    _, announced = start_server()
    caller = client(announced.endpoint)
    for op, code, text in (
        ("refuse", "picture", "send one"),
        ("fail", "internal", "ZeroDivisionError"),
        ("nothing", "unknown_op", "known are die, echo"),
        ("stop", "token", "end its process"),
        ("large", "internal", "at most 16 MiB"),
    ):
        with pytest.raises(SidecarRefused, match=text) as caught:
            caller.call(op, {"size": 17 * 2**20}, timeout_s=PATIENCE_S)
        assert caught.value.code == code
    with pytest.raises(WireError, match="at most 16 MiB"):
        caller.call("echo", {"image": np.zeros(17 * 2**20, np.uint8)}, timeout_s=PATIENCE_S)
    assert caller.call("echo", {"x": 1}, timeout_s=PATIENCE_S) == {"x": 1}


def test_a_late_reply_is_lost_and_the_next_call_gets_its_own(start_server, client) -> None:
    _, announced = start_server()
    caller, watcher = client(announced.endpoint), client(announced.endpoint)
    with pytest.raises(SidecarTimeout, match="sleep: no answer"):
        caller.call("sleep", {"seconds": 0.5}, timeout_s=0.1)
    assert caller.call("echo", {"x": 2}, timeout_s=PATIENCE_S) == {"x": 2}
    assert watcher.call("ping", timeout_s=PATIENCE_S) == {"busy_s": None}


def test_ping_is_answered_while_the_model_works(start_server, client) -> None:
    _, announced = start_server()
    caller, watcher = client(announced.endpoint), client(announced.endpoint)
    work = threading.Thread(target=lambda: caller.call("sleep", {"seconds": 1.5}, timeout_s=PATIENCE_S))
    work.start()
    wait_for(lambda: watcher.call("ping", timeout_s=PATIENCE_S)["busy_s"], "a ping that says busy")
    work.join()
    assert watcher.call("ping", timeout_s=PATIENCE_S) == {"busy_s": None}


def test_two_clients_at_once_each_get_their_own_answers(start_server, client) -> None:
    _, announced = start_server()
    wrong: list[object] = []

    def ask(name: str) -> None:
        caller = client(announced.endpoint)
        for number in range(200):
            sent = {"name": name, "number": number}
            if (back := caller.call("echo", sent, timeout_s=PATIENCE_S)) != sent:
                wrong.append(back)

    threads = [threading.Thread(target=ask, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_one_client_can_be_shared_by_threads(start_server, client) -> None:
    _, announced = start_server()
    caller, sums = client(announced.endpoint), []
    threads = [
        threading.Thread(
            target=lambda n=n: sums.append(caller.call("echo", {"n": n}, timeout_s=PATIENCE_S)["n"])
        )
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sums) == list(range(16))


def test_a_call_ends_when_the_server_is_known_to_be_lost(client) -> None:
    caller = client("tcp://127.0.0.1:9")
    with pytest.raises(SidecarDown, match="it ended"):
        caller.call("echo", timeout_s=PATIENCE_S, lost=lambda: "it ended")


def test_a_closed_client_says_so(start_server, client) -> None:
    _, announced = start_server()
    caller = client(announced.endpoint)
    caller.close()
    with pytest.raises(SidecarDown, match="closed"):
        caller.call("echo", timeout_s=PATIENCE_S)


def test_the_token_opens_and_stop_ends_the_server(start_server, client, tmp_path) -> None:
    file = tmp_path / "token"
    file.write_text("correct horse\n")
    process, announced = start_server("--token-file", str(file))
    for token in ("", "wrong", "correct horse battery", "\u2603"):
        with pytest.raises(SidecarRefused, match="wrong token"):
            client(announced.endpoint, token=token).call("hello", timeout_s=PATIENCE_S)
    caller = client(announced.endpoint, token=announced.token())
    assert caller.call("echo", {"x": 1}, timeout_s=PATIENCE_S) == {"x": 1}
    assert caller.call("stop", timeout_s=PATIENCE_S) == {}
    assert process.wait(PATIENCE_S) == 0
    assert list(announcements()) == []


def test_another_version_of_the_protocol_is_refused_by_name(start_server) -> None:
    """Whatever stands in its place: a version is looked at before the token is."""
    _, announced = start_server()
    message = {"v": 99, "id": 7, "op": "ping", "token": "", "wait_ms": 9, "data": {}}
    nest = wire.pack(message).replace(b"\xa1v\x63", b"\xa1v" + b"\x91" * 1000 + b"\x90")
    pictures = [wire.pack({**message, "v": np.zeros(size, np.uint8)}) for size in (0, 2)]
    said = []
    with zmq.Context() as context, context.socket(zmq.REQ) as raw:
        raw.linger = 0
        raw.connect(announced.endpoint)
        for frame in (nest, *pictures, wire.pack(message)):
            raw.send(frame)
            assert raw.poll(PATIENCE_S * 1e3)
            reply = wire.unpack(raw.recv())
            assert (reply["code"], reply["id"]) == ("version", 7)
            said.append(reply["message"])
    assert "protocol 1, the client a list" in said[0]
    assert "protocol 1, the client 99" in said[-1]


def options(*words: str) -> ServerOptions:
    return server_options(echo_parser().parse_args(words))


def test_off_loopback_needs_a_token() -> None:
    command = [sys.executable, str(PROGRAM), "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode != 0
    assert "off loopback; give a --token-file" in done.stderr


def test_the_token_is_the_first_line_of_its_file(start_server, client, tmp_path) -> None:
    file = tmp_path / "token"
    file.write_text("secret \nof the robot in the hall\n")
    _, server = start_server("--token-file", str(file))
    assert server.token() == "secret"
    assert client(server.endpoint, token="secret").call("echo", {"n": 1}, timeout_s=PATIENCE_S) == {"n": 1}


@pytest.mark.parametrize("content", [None, b" \n", b"\xff\xfe"])
def test_a_token_file_must_have_a_token(tmp_path, content) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SidecarError, match="write a token into it"):
        options("--token-file", str(file))


def test_a_port_that_is_taken_names_who_has_it(start_server) -> None:
    _, announced = start_server("--model", "first")
    command = [sys.executable, str(PROGRAM), "--port", str(announced.port)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert f"taken by pid {announced.pid}, which serves first" in done.stderr
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        command[-1] = str(other.getsockname()[1])
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert "taken by another program" in done.stderr


@pytest.mark.parametrize("port", ["-1", "65536", "1e3", "nan", str(2**70), "\N{SUPERSCRIPT TWO}"])
def test_a_port_that_is_none_is_a_usage_error(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        options(f"--port={port}")
    assert ended.value.code == 2
    assert "is no port; give 0 to 65535" in capsys.readouterr().err


def test_the_identity_file_is_private_and_goes_with_the_server(start_server) -> None:
    process, announced = start_server()
    path = run_folder() / f"{announced.port}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(run_folder().stat().st_mode) == 0o700
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) == 0
    assert not path.exists()
    killed, announced = start_server()
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert list(announcements()) == []
