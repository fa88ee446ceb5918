"""Workers as actors on an existing Ray cluster.

openral, and whatever the workers need, must be installed on the nodes. Ray restarts no actor: the owner of a handle
starts another one and sends it the messages that it needs, see `restarting_worker`.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from openral_benchmark.workers.worker import (
    END_S,
    Component,
    Peer,
    Worker,
    WorkerHandle,
    answer,
    opened,
    pack,
    unpack,
)
from openral_core.errors import InstallationError, OpenralError

JOIN_TRIES = "RAY_gcs_server_port_wait_time_s", "2"
"""How often Ray tries to reach a cluster's head, unless the user says; a try takes 40 s, and Ray would make twenty."""


class RayLauncher:
    """Starts workers as actors of one core each, spread over the nodes."""

    where = "the cluster's nodes"

    def __init__(self, cluster: str, key: str, device: str = "cpu") -> None:
        """Join the cluster, unless this process belongs to it already.

        Args:
            cluster: `auto`, the one that this machine belongs to, or RAY_ADDRESS names; or an address.
            key: option or key that named it.
            device: where networks of its processes are: `cpu` or `cuda`.

        Raises:
            InstallationError: no such cluster answers.
        """
        self.device = device
        self._joined = _join(cluster, key)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process that starts workers; only the process that joined leaves the cluster."""
        return {**self.__dict__, "_joined": False}

    @property
    def cores(self) -> int:
        """How many cores the cluster has."""
        return int(ray.cluster_resources().get("CPU", 1.0))

    def host(self) -> str:
        """Return the address of this node."""
        address: str = ray.util.get_node_ip_address()
        return address

    def start(
        self, component: Component, rank: int, worker: Callable[..., Worker], *arguments: object
    ) -> WorkerHandle:
        """Start an actor, which Ray shows under the name of its worker."""
        name = getattr(worker, "__name__", component)
        made = ray.remote(type(name, (WorkerActor,), {})).options(**self._options(component, rank))
        return RayHandle(made.remote(pack((worker, arguments))))

    def wait(self, handles: Sequence[WorkerHandle], timeout_s: float) -> list[WorkerHandle]:
        """Return the handles whose next answer has come."""
        references = {cast("RayHandle", handle).next: handle for handle in handles}
        done, _ = ray.wait(list(references), num_returns=1, timeout=timeout_s) if references else ([], [])
        return [references[reference] for reference in done]

    def close(self) -> None:
        """Leave the cluster, if this launcher joined it."""
        if self._joined:
            ray.shutdown()

    def _options(self, component: Component, rank: int) -> dict[str, Any]:
        """Return the options of an actor."""
        if component != "policy":
            return {"num_cpus": 1, "scheduling_strategy": "SPREAD"}
        if self.device == "cuda":
            return {"num_cpus": 1, "num_gpus": 1}
        # A skill that is no download lies where the command runs.
        here = ray.get_runtime_context().get_node_id()
        return {"num_cpus": 1, "scheduling_strategy": NodeAffinitySchedulingStrategy(here, soft=True)}


class WorkerActor:
    """A worker in its actor."""

    def __init__(self, packed: bytes) -> None:
        make, arguments = unpack(packed)
        self._error: OpenralError | None = None
        try:
            self._worker: Worker = make(*arguments)
        except OpenralError as error:
            self._error = error

    def made(self) -> bytes:
        """Return the process's id, or why there is no worker."""
        return pack(self._error or os.getpid())

    def answer(self, packed: bytes) -> bytes:
        """Carry out a packed message and return its packed answer."""
        return answer(self._worker, packed)


class RayHandle(WorkerHandle):
    """The handle of a worker in an actor."""

    def __init__(self, actor: Any) -> None:
        """Take over an actor.

        Args:
            actor: of a WorkerActor.
        """
        super().__init__()
        self._actor, self._references = actor, deque([actor.made.remote()])

    @property
    def next(self) -> Any:
        """Reference to the next answer."""
        return self._references[0]

    def close(self) -> None:
        """Do nothing: an actor has no pipe; `join` ends it."""

    def join(self, timeout_s: float = END_S) -> str:
        """Kill the actor at once, and return how it was lost before that."""
        with contextlib.suppress(RayError, ValueError):  # it is gone already
            ray.kill(self._actor)
        return self._lost or "an actor that did not answer"

    def peer(self) -> Peer:
        """Return the actor."""
        return ActorPeer(self._actor)

    def _send(self, packed: bytes) -> None:
        self._references.append(self._actor.answer.remote(packed))

    def _readable(self, timeout_s: float) -> bool:
        return bool(self._references and ray.wait([self.next], timeout=timeout_s)[0])

    def _read(self, timeout_s: float) -> bytes:
        try:
            packed: bytes = ray.get(self._references.popleft(), timeout=timeout_s)
        except GetTimeoutError as error:
            raise EOFError("silence") from error
        except RayError as error:
            raise EOFError(" ".join(str(error).split())[:200]) from error
        return packed


@dataclass(frozen=True)
class ActorPeer:
    """A worker that is an actor."""

    actor: Any

    def ask(self, message: Any, timeout_s: float) -> Any:
        """Send a message and return the answer; raises as `Peer.ask`."""
        try:
            return opened(ray.get(self.actor.answer.remote(pack(message)), timeout=timeout_s))
        except GetTimeoutError as error:
            raise TimeoutError from error
        except RayError as error:
            raise EOFError(f"actor is gone ({type(error).__name__})") from error

    def close(self) -> None:
        """Do nothing: Ray keeps its connections."""


def _join(cluster: str, key: str) -> bool:
    """Join a cluster, unless this process belongs to one; return whether it joined now, and has to leave."""
    if ray.is_initialized():
        return False
    address = os.environ.get("RAY_ADDRESS", "auto") if cluster == "auto" else cluster
    os.environ.setdefault(*JOIN_TRIES)
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise InstallationError(
            f"{key} {cluster}: no Ray cluster answers at {address} ({str(error).splitlines()[0]}); start one with "
            "`ray start --head`, and on loopback alone with `--node-ip-address 127.0.0.2`: who asks for 127.0.0.1 is "
            "sent to the machine's own address"
        ) from error
    return True
