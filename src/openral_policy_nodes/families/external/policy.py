"""Served policies as a Policy: openpi's protocol sends one observation a message, that of RLDX-1 and GR00T a batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.cli.printable import plain_line
from openral_core.errors import PolicyError, SidecarError
from openral_core.manifest import RSkillManifest
from openral_core.types import Policy, PolicyBatch
from openral_policy_nodes.families.adaptive_timeout import AdaptiveTimeout
from openral_policy_nodes.families.external.address import parse_url
from openral_policy_nodes.families.external.link import OpenpiLink, zmq_client
from openral_policy_nodes.families.external.names import names_from
from openral_rskill.registry import RSkillPackage
from openral_sidecar.client import SidecarClient


class _Served:
    """Base of both protocols: the contract's names, deadlines, and the conversion of answers."""

    def __init__(self, manifest: RSkillManifest) -> None:
        assert manifest.action_contract is not None  # names_from compared it
        self._name, self._names = manifest.name, names_from(manifest)
        self._horizon = manifest.chunk_size
        self._patience = AdaptiveTimeout(manifest.latency_budget)

    @property
    def deadline_s(self) -> float:
        """[s] deadline of the last call of the model, which is longer for the first one of a server; 0: none so far."""
        return self._patience.given_s

    def _state_parts(self, state: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Split a state (…, D) into its named parts (…, d)."""
        total = sum(self._names.state.values())
        if self._names.state and state.shape[-1] != total:
            raise PolicyError(f"{self._name}: the state has {state.shape[-1]} numbers, its names {total}")
        parts, begin = {}, 0
        for name, size in self._names.state.items():
            parts[name] = np.ascontiguousarray(state[..., begin : begin + size])
            begin += size
        return parts

    def _chunk(self, answer: Any, lead: tuple[int, ...]) -> NDArray[np.float32]:
        """Return (*lead, H, A) from the named parts of an answer.

        A server may answer more steps than the contract's `chunk_size`, of which the first ones are used.
        """
        parts = []
        for name, size in self._names.actions.items():
            part = answer.get(name) if isinstance(answer, Mapping) else None
            if not isinstance(part, np.ndarray) or part.dtype.kind != "f":
                have = ", ".join(map(str, answer)) if isinstance(answer, Mapping) else type(answer).__name__
                only = plain_line(have) or "nothing"
                raise PolicyError(f"{self._name}: the server's answer has no {name}, only {only}")
            fits = part.ndim == len(lead) + 2 and part.shape[: len(lead)] == lead
            if not fits or part.shape[-2] < self._horizon or part.shape[-1] != size:
                needed = (*lead, self._horizon, size)
                raise PolicyError(
                    f"{self._name}: {name} is {part.shape}, the contract promises {needed}; fix its sizes"
                )
            steps = part[..., : self._horizon, :].astype(np.float32)
            parts.append(-np.sign(2.0 * steps - 1.0) if name == self._names.open_unit else steps)
        return np.concatenate(parts, axis=-1)

    def _ask(self, rows: int, call: Callable[[float], Any]) -> Any:
        """Return the answer to a call that infers from `rows` observations, with an adaptive deadline."""
        begun = time.monotonic()
        answer = self._answer(call, self._patience.limit_s(rows))
        self._patience.note(rows, time.monotonic() - begun)
        return answer

    def _answer(self, call: Callable[[float], Any], limit_s: float) -> Any:
        """Return the answer to a call with a deadline [s]. Raises PolicyError, which quotes the server: it failed."""
        try:
            return call(limit_s)
        except SidecarError as error:
            self._patience.forget()  # the next answer may come from a restarted server
            # What the server says may be of any length, and have characters that terminals obey.
            raise PolicyError(f"{self._name}: {plain_line(str(error))}") from error


class OpenpiPolicy(_Served):
    """Client with openpi's protocol, which has neither batches nor state between observations.

    It sends images (H, W, 3) uint8, the state as parts (d,) float32 and the instruction, and receives actions (H, d).
    """

    def __init__(self, manifest: RSkillManifest, link: OpenpiLink) -> None:
        super().__init__(manifest)
        self._link = link

    def reset(self, episodes: Sequence[str]) -> None:
        """Do nothing, since the protocol has no such request."""

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return action chunks (B, H, A) in the representation of the manifest's action contract.

        The observations are sent one after another.
        """
        chunks = []
        for row in range(len(batch)):
            observation: dict[str, Any] = {
                self._names.images[key]: images[row] for key, images in batch.images.items()
            }
            observation |= self._state_parts(batch.state[row])
            observation[self._names.instruction] = batch.instructions[row]
            answer = self._ask(1, lambda limit_s, seen=observation: self._link.infer(seen, limit_s))  # type: ignore[misc]
            chunks.append(self._chunk(answer, ()))
        return np.stack(chunks)

    def close(self) -> None:
        """Close the connection."""
        self._link.close()


class ZmqPolicy(_Served):
    """Client with the ZeroMQ protocol of RLDX-1 and GR00T.

    It sends videos (B, T, H, W, 3) uint8, states (B, 1, d) float32 and B instructions, and receives actions (B, H, d).
    """

    def __init__(self, manifest: RSkillManifest, client: SidecarClient) -> None:
        super().__init__(manifest)
        self._client = client

    def reset(self, episodes: Sequence[str]) -> None:
        """Delete the server's state of these episodes, where the contract has `sessions`."""
        if self._names.sessions:
            data = {"options": {"session_ids": [*episodes]}}
            # It infers nothing, so its answer says nothing of how long the first inference may take.
            self._answer(lambda limit_s: self._call("reset", data, limit_s), self._patience.least_s)

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return action chunks (B, H, A) in the representation of the manifest's action contract."""
        rows = len(batch)
        observation: dict[str, Any] = {
            self._names.images[key]: images if images.ndim == 5 else images[:, None]
            for key, images in batch.images.items()
        }
        state = batch.state if batch.state.ndim == 3 else batch.state[:, None]
        observation |= self._state_parts(state)
        observation[self._names.instruction] = list(batch.instructions)
        options = {"session_ids": list(batch.episodes)} if self._names.sessions else None
        data = {"observation": observation, "options": options}
        answer = self._ask(rows, lambda limit_s: self._call("get_action", data, limit_s)).get("result")
        if not isinstance(answer, list) or len(answer) != 2:
            raise PolicyError(f"{self._name}: the server answered no (action, info); it is no policy server")
        return self._chunk(answer[0], (rows,))

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _call(self, op: str, data: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        return self._client.call(op, data, timeout_s=limit_s)


def load(package: RSkillPackage, device: str = "cpu") -> Policy:
    """Return the policy at a contract's `policy_extras.url`; `device` is ignored, since the server chooses it.

    Raises:
        PolicyError: the contract's names are contradictory, or its URL is missing or not allowed.
    """
    manifest = package.manifest
    names = names_from(manifest)
    if not names.url:
        raise PolicyError(
            f"{manifest.name}: no policy_extras.url; write one, or give --policy-url to a benchmark"
        )
    address = parse_url(names.url)
    if address.scheme == "zmq":
        return ZmqPolicy(manifest, zmq_client(address))
    return OpenpiPolicy(manifest, OpenpiLink(address))
