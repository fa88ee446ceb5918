"""Runs upstream's own RLDX-1 server in the sidecar's interpreter.

    python -m openral_policy_nodes.families.rldx.server --model RLWRLD/RLDX-1-FT-LIBERO --quantization nf4 --port 5555

It is `python -m rldx.eval.run_rldx_server --use-sim-policy-wrapper --no-strict`, with five features that upstream's
command line lacks: the backbone in NF4, CUDA graphs for any batch size, batches of sentences of different lengths, a
token, and an identity file for the port. It needs `--no-strict`, because with strict checks upstream's wrapper refuses
the actions of its own LIBERO path.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import logging
import runpy
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from openral_core.errors import PolicyError
from openral_policy_nodes.families.rldx.arguments import identity_of, rldx_parser
from openral_sidecar.environment.checkpoint_code import refuse_checkpoint_code
from openral_sidecar.server import ServerOptions, announced, server_options
from openral_sidecar.stop_request import StopRequest

UPSTREAM = "rldx.eval.run_rldx_server"
_POLICY, _LOADER = "rldx.policy.rldx_policy", "rldx.policy.policy_loader"
_SERVER = "rldx.policy.server_client"
LINGER_MS = 1000
"""[ms] longest time to send the last reply."""


def upstream_arguments(args: argparse.Namespace) -> list[str]:
    """Return the command-line arguments of upstream's server."""
    return [
        "--model-path",
        _checkpoint(args),
        "--embodiment-tag",
        args.embodiment_tag,
        "--device",
        args.device,
        "--host",
        args.host,
        "--port",
        str(args.port),
        "--use-sim-policy-wrapper",
        "--no-strict",
    ]


def main() -> None:
    """Load the checkpoint and serve until `kill`, SIGTERM or SIGINT; a running inference is completed first.

    Raises:
        PolicyError: upstream is not installed, or its modules lack the names that are replaced here.
    """
    args = rldx_parser().parse_args()
    options = server_options(args)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    _upstream(_POLICY)  # before the loader, since it changes transformers' table of dtypes
    refuse_checkpoint_code()  # upstream's loader reads the configuration with trust_remote_code
    _replace(_SERVER, "PolicyServer", lambda server: _announcing(server, args, options))
    if args.quantization == "nf4":
        _replace(_LOADER, "AutoModel", _in_nf4)
    if args.device.startswith("cuda"):
        _replace(_LOADER, "AutoModel", _recorded)
    _replace(_LOADER, "AutoModel", _any_sentences)
    sys.argv = [UPSTREAM, *upstream_arguments(args)]
    runpy.run_module(UPSTREAM, run_name="__main__", alter_sys=True)


def _checkpoint(args: argparse.Namespace) -> str:
    """Return the checkpoint for upstream: a folder, or a hub id that upstream downloads."""
    if args.checkpoint or not args.revision:
        return str(args.checkpoint or args.model)
    from huggingface_hub import snapshot_download  # upstream would download the newest revision

    return str(snapshot_download(args.model, revision=args.revision))


def _in_nf4(auto_model: Any) -> Any:
    from openral_policy_nodes.families.rldx.backbone import BackboneInNf4

    return BackboneInNf4(auto_model)


def _recorded(auto_model: Any) -> Any:
    from openral_policy_nodes.families.rldx.cuda_graphs import Recorded

    return Recorded(auto_model)


def _any_sentences(auto_model: Any) -> Any:
    from openral_policy_nodes.families.rldx.mixed_length_batch import AnySentences

    return AnySentences(auto_model)


class _StoppableSocket:
    """Upstream's socket, with a `recv`, the only call that blocks its loop, that ends the process on request."""

    def __init__(self, socket: Any, stop: StopRequest) -> None:
        self._socket = socket
        self._stop = stop

    def recv(self) -> Any:
        if not self._stop.wait_for(self._socket):
            raise SystemExit(0)  # passes upstream's loop, which catches Exception
        return self._socket.recv()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)


def _announcing(server: Any, args: argparse.Namespace, options: ServerOptions) -> Any:
    """Return a subclass of upstream's PolicyServer with our token, which announces its identity while it runs."""

    class AnnouncedServer(server):  # type: ignore[misc]  # upstream has no types
        def __init__(self, policy: Any, host: str, port: int) -> None:
            super().__init__(policy=policy, host=host, port=port, api_token=options.token or None)
            self._stop = StopRequest()
            self.socket: Any = _StoppableSocket(self.socket, self._stop)

        def run(self) -> None:
            import zmq

            port = int(self.socket.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
            try:
                with (
                    contextlib.closing(self._stop),
                    self._stop.on_signals(),
                    announced(identity_of(args), options, port),
                ):
                    super().run()
            finally:
                self.context.destroy(
                    linger=LINGER_MS
                )  # without it this would wait forever for a client that does not read

    return AnnouncedServer


def _replace(module: str, name: str, change: Callable[[Any], Any]) -> None:
    """Replace the object of a name in one of upstream's modules by `change(original)`."""
    found = _upstream(module)
    original = getattr(found, name, None)
    if original is None:
        raise PolicyError(f"rldx: {module} has no {name}; use the revision of RLDX-1 that the spec names")
    setattr(found, name, change(original))


def _upstream(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PolicyError(f"rldx: {error}; build the sidecar's environment anew") from error


if __name__ == "__main__":
    main()
