"""The other processes of the measurements: `python runtime_peer.py ROLE DOMAIN KIND`.

Each reads commands from its standard input and answers each with one line of JSON. Commands name a side,
`ros` or `bare`, so that one pair of processes measures both in turns.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import rclpy
import zenoh
from example_interfaces.srv import AddTwoInts
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.serialization import serialize_message
from ros2_embedded.session import direct
from runtime_wire import KINDS, LOSSLESS, RATE_HZ, TOPIC, bare_key, bare_session

BILLION = 10**9
LATE_S = 10.0  # what has not come by then is lost
REQUEST = AddTwoInts.Request(a=2, b=3)


def answer(**fields: Any) -> None:
    """Tell the test."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def commands() -> Iterator[list[str]]:
    """The words of each command, until the test closes the pipe."""
    for line in sys.stdin:
        yield line.split()


class Sender:
    """Publishes the same messages over ROS and over bare Zenoh."""

    def __init__(self, context: rclpy.Context, kind: str) -> None:
        self._messages = KINDS[kind]()
        self._node = rclpy.create_node("sender", context=context)
        self._publisher = self._node.create_publisher(self._messages.type, TOPIC, LOSSLESS)
        self._paced = self._node.create_publisher(self._messages.type, TOPIC + "_paced", 10)
        key = bare_key(context.get_domain_id(), kind)
        session = bare_session()
        self._bare = session.declare_publisher(key, congestion_control=zenoh.CongestionControl.BLOCK)
        self._bare_paced = session.declare_publisher(f"{key}_paced")

    def run(self) -> None:
        """Serve commands: `ros COUNT`, `bare COUNT` and `pace COUNT`."""
        bare = (self._bare, self._bare_paced)
        while self._publisher.get_subscription_count() + self._paced.get_subscription_count() < 2 or not all(
            publisher.matching_status.matching for publisher in bare
        ):
            time.sleep(0.01)
        answer(ready=True)
        for side, count in commands():
            if side == "pace":
                self._pace(int(count))
            else:
                self._flood(side, int(count))
            answer(sent=int(count))

    def _flood(self, side: str, count: int) -> None:
        """Send as fast as it goes."""
        for _ in range(count):
            if side == "ros":
                self._publisher.publish(self._messages.message(0, 0))
            else:
                self._bare.put(self._messages.payload(0, 0))

    def _pace(self, count: int) -> None:
        """Send at 30 Hz each, one side in the pauses of the other; stamps are monotonic time."""
        begin = time.monotonic()
        for index in range(2 * count):
            time.sleep(max(0.0, begin + index / (2 * RATE_HZ) - time.monotonic()))
            stamp = divmod(time.monotonic_ns(), BILLION)
            if index % 2:
                self._paced.publish(self._messages.message(*stamp))
            else:
                self._bare_paced.put(self._messages.payload(*stamp))


class Receiver:
    """Counts what comes on both sides; bare Zenoh's callback runs in the thread that receives."""

    def __init__(self, context: rclpy.Context, kind: str) -> None:
        self._stamp: Callable[[Any], tuple[int, int]] = getattr(KINDS[kind], "stamp", lambda _: (0, 0))
        self._changed = threading.Condition()
        self._left = 0
        self._first = self._last = 0.0
        self.latencies: dict[str, list[int]] = {"ros": [], "bare": []}
        self._node = rclpy.create_node("receiver", context=context)
        message_type = KINDS[kind].type
        self._node.create_subscription(message_type, TOPIC, lambda _: self._count(), LOSSLESS)
        self._node.create_subscription(message_type, TOPIC + "_paced", lambda m: self._time("ros", m), 10)
        session = bare_session()
        key = bare_key(context.get_domain_id(), kind)
        session.declare_subscriber(key, direct(self._on_bare))
        session.declare_subscriber(f"{key}_paced", direct(lambda s: self._time("bare", s.payload.to_bytes())))
        self._session = session
        self.executor = SingleThreadedExecutor(context=context)
        self.executor.add_node(self._node)

    def _on_bare(self, sample: zenoh.Sample) -> None:
        sample.payload.to_bytes()
        self._count()

    def _count(self) -> None:
        self._last = time.monotonic()
        if not self._first:
            self._first = self._last
        self._left -= 1
        if not self._left:
            with self._changed:
                self._changed.notify()

    def _time(self, side: str, message: Any) -> None:
        seconds, nanoseconds = self._stamp(message)
        self.latencies[side].append(time.monotonic_ns() - seconds * BILLION - nanoseconds)

    def run(self) -> None:
        """Serve commands: `count N` waits for that many messages and gives the seconds, `latencies N`
        gives the latencies of as many on each side, or of those that came."""
        answer(ready=True)
        for words in commands():
            count = int(words[1])
            if words[0] == "latencies":
                end = time.monotonic() + LATE_S
                while any(len(found) < count for found in self.latencies.values()) and time.monotonic() < end:
                    time.sleep(0.05)
                answer(**self.latencies)
                continue
            with self._changed:
                self._first, self._left = 0.0, count
            answer(counting=count)
            with self._changed:
                self._changed.wait_for(lambda: self._left <= 0)
            answer(seconds=self._last - self._first)


class Server:
    """The same answer as a ROS service and as a bare queryable."""

    def __init__(self, context: rclpy.Context, kind: str) -> None:
        self._node = rclpy.create_node("server", context=context)
        self._node.create_service(AddTwoInts, "/add", self._add)
        self._response = serialize_message(AddTwoInts.Response(sum=5))
        self._key = bare_key(context.get_domain_id(), "add")
        self._session = bare_session()
        self._queryable = self._session.declare_queryable(self._key, direct(self._on_query), complete=True)
        self.executor = SingleThreadedExecutor(context=context)
        self.executor.add_node(self._node)

    @staticmethod
    def _add(request: Any, response: Any) -> Any:
        response.sum = request.a + request.b
        return response

    def _on_query(self, query: zenoh.Query) -> None:
        assert query.payload is not None
        query.payload.to_bytes()
        query.reply(self._key, self._response)
        query.drop()

    def run(self) -> None:
        """Serve until the pipe closes."""
        answer(ready=True)
        for _ in commands():
            pass


class Caller:
    """Calls the service and the queryable in turns."""

    def __init__(self, context: rclpy.Context, kind: str) -> None:
        self._node = rclpy.create_node("caller", context=context)
        self._client = self._node.create_client(AddTwoInts, "/add")
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self._node)
        self._querier = bare_session().declare_querier(
            bare_key(context.get_domain_id(), "add"), target=zenoh.QueryTarget.ALL_COMPLETE
        )
        self._request = serialize_message(REQUEST)

    def run(self) -> None:
        """Serve `call COUNT`: answers with the nanoseconds of each round trip."""
        self._client.wait_for_service()
        while not self._querier.matching_status.matching:
            time.sleep(0.01)
        answer(ready=True)
        for _, count in commands():
            times: dict[str, list[int]] = {"ros": [], "bare": []}
            for _ in range(int(count)):
                for side, call in (("ros", self._call), ("bare", self._query)):
                    begin = time.monotonic_ns()
                    call()
                    times[side].append(time.monotonic_ns() - begin)
            answer(**times)

    def _call(self) -> None:
        future = self._client.call_async(REQUEST)
        self._executor.spin_until_future_complete(future)
        assert future.result().sum == 5

    def _query(self) -> None:
        for reply in self._querier.get(payload=self._request):
            assert reply.ok is not None
            reply.ok.payload.to_bytes()


def main() -> None:
    """Run a role; one that has an executor is spun by the main thread."""
    role, domain, kind = sys.argv[1:]
    context = rclpy.Context()
    context.init(args=[], domain_id=int(domain))
    peer = {"send": Sender, "receive": Receiver, "serve": Server, "call": Caller}[role](context, kind)
    executor = getattr(peer, "executor", None)
    if executor is None:
        peer.run()
        return
    thread = threading.Thread(target=peer.run)
    thread.start()
    threading.Thread(target=lambda: (thread.join(), context.try_shutdown()), daemon=True).start()
    try:
        executor.spin()
    except ExternalShutdownException:
        return


if __name__ == "__main__":
    main()
