"""A model in a process of its own that ends, hangs, lies or is left behind, behind a policy node of a deployment."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import zmq
from faults_commands import serve
from faults_deployment import SERVED, Deployed, deployed
from faults_files import World
from faults_member import Member
from faults_truth import HORIZON_S, ages_of_executed_steps
from lifecycle_msgs.msg import Transition
from sidecar_mutations import mutations
from system_stack import wait_for

from openral_sidecar.wires import openral as wire

FAILED, DEADLINE = 2, 3
WORDS = "open the drawer"
BUDGET_S = 1.0
"""[s] declared by `faults_family`."""
RESTARTS = 3
ANEW = (
    Transition.TRANSITION_DEACTIVATE,
    Transition.TRANSITION_CLEANUP,
    Transition.TRANSITION_CONFIGURE,
    Transition.TRANSITION_ACTIVATE,
)


def gone(process: psutil.Process) -> bool:
    """Whether a process has ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() == psutil.STATUS_ZOMBIE
    return True


def lose(shared: Deployed, number: signal.Signals) -> tuple[float, Any]:
    """Send the server a signal in the middle of a goal; return [s] until the goal's end was told, and its result."""
    operator = shared.operator
    shared.world.turn(delay_s=0.05)
    ended = operator.run_skill(SERVED, "stay", 60.0)
    operator.until_moving()
    server = shared.sidecar()
    begun = time.perf_counter()
    server.send_signal(number)
    result = ended()
    seconds = time.perf_counter() - begun
    operator.until(lambda: shared.status.holding and not shared.status.active_goal, "the arm to hold")
    wait_for(lambda: gone(server), "the end of the lost server")
    return seconds, result


def until_served(shared: Deployed) -> None:
    """Wait until the skill runs again, by asking it."""
    shared.world.turn()

    def runs() -> bool:
        result = shared.operator.run_skill(SERVED, WORDS, 0.5)()
        return bool(result.outcome == DEADLINE)

    wait_for(runs, "the sidecar's restart")


def load_anew(shared: Deployed) -> None:
    """Close the skill's model and load it again, behind a server whose restarts are yet to come."""
    with Member(shared.stack) as member:
        for transition in ANEW:
            assert member.change(f"/openral/policy/{SERVED}", transition), transition
    shared.operator.until_active(SERVED)


def test_a_killed_sidecar_is_noticed_and_restarted_and_given_up_in_the_end(
    shared: Deployed, figure: Any
) -> None:
    load_anew(shared)
    times = []
    for _ in range(RESTARTS):
        seconds, result = lose(shared, signal.SIGKILL)
        times.append(seconds)
        assert (result.outcome, result.check) == (FAILED, "policy_error"), result
        until_served(shared)
    _, result = lose(shared, signal.SIGKILL)
    assert result.outcome == FAILED

    def given_up() -> bool:
        shared.world.turn()
        message = shared.operator.run_skill(SERVED, WORDS, 1.0)().message
        return f"given up after {RESTARTS} restarts" in message

    wait_for(given_up, "the latched fault")
    assert float(ages_of_executed_steps(shared.until_recorded()).max()) <= HORIZON_S + 1 / 80
    load_anew(shared)
    figure(
        row=7,
        injected="SIGKILL of the sidecar in the middle of a goal",
        times=RESTARTS + 1,
        happened=f"the goal failed by name, the arm held, {RESTARTS} restarts, then a latched fault",
        lost="the goal",
        worst=1e3 * max(times),
        unit="ms to the goal's end",
        bar="500 ms",
    )


def test_a_hanging_sidecar_is_replaced(shared: Deployed, figure: Any) -> None:
    seconds, result = lose(shared, signal.SIGSTOP)
    assert (result.outcome, result.check) == (FAILED, "policy_error"), result
    until_served(shared)
    assert float(ages_of_executed_steps(shared.until_recorded()).max()) <= HORIZON_S + 1 / 80
    figure(
        row=8,
        injected="SIGSTOP of the sidecar in the middle of a goal",
        times=1,
        happened="the request timed out, the arm held, the server was killed and restarted",
        lost="the goal",
        worst=seconds / BUDGET_S,
        unit="latency budgets to the goal's end",
        bar="2 budgets",
    )


@pytest.mark.parametrize("answer", ["nan", "far", "short"])
def test_a_sidecar_that_answers_nonsense_moves_nothing(shared: Deployed, figure: Any, answer: str) -> None:
    shared.world.turn(policy=answer)
    executed = shared.status.executed
    result = shared.operator.run_skill(SERVED, WORDS, 10.0)()
    assert result.outcome == FAILED, result
    assert result.check in ("envelope", "policy_error")
    shared.operator.until(lambda: shared.status.holding, "the arm to hold")
    assert shared.status.executed == executed
    shared.world.turn()
    assert shared.operator.run_skill(SERVED, WORDS, 0.5)().outcome == DEADLINE
    figure(
        row=10,
        injected=f"the sidecar's chunk is wrong: {answer}",
        times=1,
        happened=f"no step of it was executed, the goal failed ({result.check}), the next one ran",
        lost="the goal",
        bar="0 steps",
    )


CLIENT = """
import json, sys
from openral_core.errors import SidecarError
from openral_sidecar.client import SidecarClient
client, count, errors = SidecarClient(sys.argv[1]), int(sys.argv[2]), 0
for _ in range(count):
    try:
        client.call("act", {}, timeout_s=10.0)
    except SidecarError as error:
        errors += 1
        assert len(str(error)) < 2000 and "\\n" not in str(error), error
[peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(json.dumps([errors, int(peak)]))
"""


@contextlib.contextmanager
def hostile_server(frames: Iterator[bytes]) -> Iterator[str]:
    """A server in a thread that answers every request with the next frame; yields its endpoint."""
    ends = threading.Event()
    context = zmq.Context()
    door: zmq.Socket[bytes] = context.socket(zmq.ROUTER)
    door.linger = 0
    door.bind("tcp://127.0.0.1:*")

    def answer() -> None:
        while not ends.is_set():
            if door.poll(50):
                name, *_ = door.recv_multipart()
                door.send_multipart([name, b"", next(frames)])

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield door.getsockopt_string(zmq.LAST_ENDPOINT)
    finally:
        ends.set()
        thread.join()
        context.destroy(linger=0)


def garbage() -> Iterator[bytes]:
    """Replies that are damaged, of another version, truncated, or nothing at all; without end."""
    good = wire.pack({"v": 1, "id": 1, "data": {"action": [0.0] * 64}})
    others = [
        wire.pack({"v": 99, "id": 1, "data": {}}),
        wire.pack({"v": "1", "id": []}),
        b"",
        b"\xc1",
        good[:-9],
    ]
    seed = 0
    while True:
        yield from others
        yield from mutations([good], 50, seed)
        seed += 1


def ask(endpoint: str, count: int, program: str = CLIENT) -> tuple[int, int]:
    """Let a client process ask a server; return its errors and its greatest memory [bytes]."""
    command = [sys.executable, "-c", program, endpoint, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    assert done.returncode == 0, done.stderr
    errors, peak_kb = map(int, done.stdout.strip("[]\n").split(","))
    return errors, 1024 * peak_kb


def assault_a_client(count: int) -> tuple[int, int]:
    """Let a client process ask a hostile server; see `ask`."""
    with hostile_server(garbage()) as endpoint:
        return ask(endpoint, count)


def assault(figure: Any, count: int) -> None:
    few, _ = assault_a_client(20)
    assert few > 0
    _, before = assault_a_client(20)
    errors, peak = assault_a_client(count)
    assert errors > count // 2
    assert peak - before < 24 * 2**20, f"{count} frames cost {(peak - before) >> 20} MiB"
    figure(
        row=10,
        injected="replies of a sidecar damaged, cut short, empty or of another version",
        times=count,
        happened=f"{errors} dropped with a reason, the client lives",
        worst=(peak - before) / 2**20,
        unit="MiB more",
        bar="memory flat",
    )


def test_damaged_replies_end_nothing(figure: Any) -> None:
    assault(figure, 600)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_ten_thousand_damaged_replies_end_nothing(figure: Any) -> None:
    assault(figure, 10_000)


def test_a_reply_of_a_gigabyte_is_not_read(figure: Any) -> None:
    """The announced size alone: what a peer says that it will send, and then the beginning of it."""
    program = CLIENT.replace("timeout_s=10.0", "timeout_s=2.0")
    _, before = assault_a_client(20)
    with hostile_server(iter(lambda: bytes(2**30), None)) as endpoint:
        errors, peak = ask(endpoint, 1, program)
    assert errors == 1
    more = peak - before
    assert more < 24 * 2**20, f"{more >> 20} MiB"
    figure(
        row=10,
        injected="a reply of 1 GB",
        times=1,
        happened="not read, the call ended",
        worst=more / 2**20,
        unit="MiB more",
        bar="16 MiB",
    )


def test_a_port_that_is_taken_is_refused_by_pid_and_name(tmp_path: Path, figure: Any) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    first = serve(tmp_path, tmp_path / "first.txt", "--port", port)
    try:
        wait_for(lambda: list(tmp_path.glob(f"**/{port}.json")), "the first server's identity file")
        begun = time.perf_counter()
        second = serve(tmp_path, tmp_path / "second.txt", "--port", port)
        code, seconds = second.wait(60), time.perf_counter() - begun
    finally:
        first.terminate()
        ended = first.wait(60)
    said = (tmp_path / "second.txt").read_text()
    assert code != 0
    assert ended == 0
    assert f"taken by pid {first.pid}" in said, said
    assert "Traceback" not in said
    figure(
        row=11,
        injected="a second server on the port of one of an earlier run",
        times=1,
        happened="refused in one line that names the pid and the model of the first",
        worst=seconds,
        unit="s from its start",
        bar="2 s",
    )


def kill_and_watch(victim: psutil.Process, left: list[psutil.Process]) -> float:
    """Kill a process; return [s] until none of the others is left."""
    begun = time.perf_counter()
    victim.kill()
    wait_for(lambda: all(map(gone, left)), f"the end of {[process.pid for process in left]}")
    return time.perf_counter() - begun


def listens_at(process: psutil.Process) -> list[tuple[str, int]]:
    """Return the addresses at which a process takes connections."""
    return [tuple(each.laddr) for each in process.net_connections("tcp") if each.status == psutil.CONN_LISTEN]


def below(process: psutil.Process) -> list[psutil.Process]:
    """Return every process that a process has started, directly or not."""
    return list(process.children(recursive=True))


def test_nothing_outlives_a_killed_parent(tmp_path: Path, figure: Any) -> None:
    """First the policy node dies, and its server with it; then the launcher, and every node and server with it."""
    with deployed(World(tmp_path), "enable_reward_monitor:=false") as own:
        own.operator.until_active(SERVED)
        node, server = own.node_of(SERVED), own.sidecar()
        ports = {port for process in [server, *below(server)] for port in listens_at(process)}
        assert ports
        seconds = kill_and_watch(node, below(node))
        for host, port in ports:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, port))
        figure(
            row=12,
            injected="SIGKILL of a policy node with a sidecar",
            times=1,
            happened="its server, the guard and the server's own child ended, the port is free",
            worst=seconds,
            unit="s",
            bar="2 s",
        )
        launcher = own.launcher()
        everything = [process for process in own.stack.processes() if process.pid != launcher.pid]
        assert len(everything) >= 4
        seconds = kill_and_watch(launcher, everything)
        # The killed policy node may have been in the middle of its restart, and was not among them.
        wait_for(lambda: not own.stack.processes(), "the end of what was being started")
        figure(
            row=12,
            injected="SIGKILL of the launcher of a whole deployment",
            times=1,
            happened=f"all {len(everything)} processes ended",
            worst=seconds,
            unit="s",
            bar="2 s",
        )
