"""A server with upstream's protocol and random weights instead of a checkpoint, for tests of the data path only.

    python -m openral_policy_nodes.families.rldx.conformance_server --model RLWRLD/RLDX-1-FT-LIBERO --port 5555

To clients it is the same as `rldx.eval.run_rldx_server`: it has ping, get_action, reset, get_modality_config and kill,
with the same replies, errors and peculiarities (requests are answered one after another, everyone with the token may
call `kill`, errors are texts). It accepts all arguments of the model and ignores them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq

from openral_policy_nodes.families.rldx.arguments import identity_of, rldx_parser
from openral_policy_nodes.families.rldx.conformance_model import LABEL, ConformanceModel
from openral_policy_nodes.families.rldx.conformance_wrapper import ConformanceWrapper
from openral_sidecar.server import ServerOptions, announced, server_options
from openral_sidecar.stop_request import StopRequest
from openral_sidecar.wires import rldx as rldx_wire

_log = logging.getLogger("openral.rldx.conformance")


class ConformanceServer:
    """Serves one REP socket: a request is a map `{endpoint, data, api_token}`, and has one reply."""

    def __init__(
        self, policy: ConformanceModel | ConformanceWrapper, options: ServerOptions, record: Path | None
    ) -> None:
        """Bind the socket.

        Args:
            policy: answers get_action, reset and get_modality_config.
            options: address and token.
            record: file to which a line of JSON with endpoint, sessions and sentences is added for each request but
                ping; None: nothing is recorded.
        """
        self._token = options.token
        self._record = record
        self._running = True
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.REP)
        self._socket.bind(f"tcp://{options.host}:{options.port}")
        self.port = int(self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
        self._without_input: dict[str, Callable[[], Any]] = {
            "ping": lambda: {"status": "ok", "message": "Server is running"},
            "kill": self._kill,
            "get_modality_config": policy.get_modality_config,
        }
        self._with_input: dict[str, Callable[..., Any]] = {
            "get_action": policy.get_action,
            "reset": policy.reset,
        }

    def run(self, stop: StopRequest) -> None:
        """Answer requests until `kill`, or until `stop` is requested."""
        while self._running and stop.wait_for(self._socket):
            frame = self._socket.recv()
            try:
                reply = rldx_wire.encode(self._answer(rldx_wire.decode(frame)))
            except Exception as error:  # noqa: BLE001  upstream answers every exception with its text
                _log.warning("%s: %s", type(error).__name__, error)
                reply = rldx_wire.encode({"error": str(error)})
            self._socket.send(reply)
        self._socket.close(linger=1000)  # the reply to `kill` is still on its way

    def _answer(self, request: Any) -> Any:
        if self._token and request.get("api_token") != self._token:
            return {"error": "Unauthorized: Invalid API token"}
        endpoint = request.get("endpoint", "get_action")
        self._note(endpoint, request.get("data"))
        if endpoint in self._without_input:
            return self._without_input[endpoint]()
        if endpoint not in self._with_input:
            raise ValueError(f"Unknown endpoint: {endpoint}")
        return self._with_input[endpoint](**request.get("data", {}))

    def _kill(self) -> None:
        self._running = False

    def _note(self, endpoint: Any, data: Any) -> None:
        if self._record is None or endpoint == "ping":
            return
        given = data if isinstance(data, dict) else {}
        row = {"endpoint": endpoint, "sessions": (given.get("options") or {}).get("session_ids")}
        if isinstance(given.get("observation"), dict):
            row["sentences"] = given["observation"].get("annotation.human.action.task_description")
        with self._record.open("a") as file:
            file.write(json.dumps(row) + "\n")


def main() -> int:
    """Serve until `kill`, SIGTERM or SIGINT."""
    parser = rldx_parser(f"Upstream's protocol without a checkpoint: {LABEL}.")
    parser.add_argument("--strict", action=argparse.BooleanOptionalAction, default=False)
    parser.add_argument("--use-sim-policy-wrapper", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--history", type=int, nargs="+", default=[-6, -4, -2, 0], help="frames it looks at")
    parser.add_argument("--record", type=Path, help="file that gets a line of JSON a request")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    options = server_options(args)
    model = ConformanceModel(args.history, strict=args.strict)
    policy = ConformanceWrapper(model, strict=args.strict) if args.use_sim_policy_wrapper else model
    server = ConformanceServer(policy, options, args.record)
    stop = StopRequest()
    with contextlib.closing(stop), stop.on_signals(), announced(identity_of(args), options, server.port):
        _log.info("answers at %s:%d for %s: %s", options.host, server.port, args.model, LABEL)
        server.run(stop)
    return 0


if __name__ == "__main__":
    sys.exit(main())
