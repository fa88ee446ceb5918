"""Settings of the sidecar of an RLDX-1 skill, from environment variables and from its manifest."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from openral_core.errors import PolicyError
from openral_core.files.cache import cache_home
from openral_core.files.user_path import user_path
from openral_core.manifest import RSkillManifest
from openral_policy_nodes.families.adaptive_timeout import LEAST_S
from openral_policy_nodes.families.rldx.arguments import DEFAULT_TAG
from openral_rskill.registry import RSkillPackage
from openral_rskill.store.repo_id import HUB, HubReference
from openral_sidecar.identity import Identity
from openral_sidecar.settings import SidecarSettings

PREFIX = "OPENRAL_RLDX_"
DEFAULT_PORT = 5555
"""Upstream's default port (`DEFAULT_MODEL_SERVER_PORT` in rldx/eval/run_rldx_server.py)."""
_QUANTIZATION = {"int4": "nf4", "bf16": "none", "fp32": "none"}
"""`quantization.dtype` of the manifest -> `--quantization` of the server. The weights are stored in bf16."""
_PATIENT = 4.0
"""Deadline of a ping, in latency budgets.

Upstream answers one request after another, and the one before may be another client's inference. The deadlines of
`RldxPolicy` come from `AdaptiveTimeout`.
"""


class RldxExtras(BaseModel):
    """`policy_extras` of a manifest of this family."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    embodiment_tag: str = DEFAULT_TAG
    """Name of upstream's EmbodimentTag under which the checkpoint stores its statistics."""


def settings_from(manifest: RSkillManifest, environment: Mapping[str, str] = os.environ) -> SidecarSettings:
    """Return the settings from the environment variables `OPENRAL_RLDX_*` and the manifest's latency budget.

    The variables, with their defaults, are `_AUTO_SPAWN` (1), `_HOST` (127.0.0.1), `_PORT` (5555; 0: any free one),
    `_TOKEN`, `_SOURCE` (a folder with upstream's repository, instead of the pinned commit) and `_PYTHON` (an
    interpreter with the server's dependencies; else `<cache>/rldx-sidecar/source/.venv` where it exists, else an
    environment is built).

    Raises:
        PolicyError: a variable is malformed.
    """
    port, spawn = (
        environment.get(f"{PREFIX}PORT", str(DEFAULT_PORT)),
        environment.get(f"{PREFIX}AUTO_SPAWN", "1"),
    )
    if not (port.isdecimal() and int(port) < 65536):
        raise PolicyError(f"{PREFIX}PORT is '{port}'; write a port, or 0 for any free one")
    if spawn not in ("0", "1"):
        raise PolicyError(
            f"{PREFIX}AUTO_SPAWN is '{spawn}'; write 1 to start the server, 0 to use one that runs"
        )
    source = environment.get(f"{PREFIX}SOURCE")
    python = interpreter_from(environment)
    if spawn == "0":
        python = Path(sys.executable)  # nothing is started, so no environment has to be built
    return SidecarSettings(
        host=environment.get(f"{PREFIX}HOST", "127.0.0.1"),
        port=int(port),
        auto_spawn=spawn == "1",
        source=user_path(source) if source else None,
        python=python,
        token=environment.get(f"{PREFIX}TOKEN", ""),
        call_timeout_s=max(LEAST_S, _PATIENT * manifest.latency_budget.per_chunk_ms * 1e-3),
    )


def interpreter_from(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the interpreter of `OPENRAL_RLDX_PYTHON`, else the one in the cache; None: there is none."""
    named = environment.get(f"{PREFIX}PYTHON")
    if named:
        return user_path(named)
    usual = cache_home() / "rldx-sidecar" / "source" / ".venv" / "bin" / "python"
    return usual if usual.exists() and not environment.get(f"{PREFIX}SOURCE") else None


def identity_for(package: RSkillPackage) -> Identity:
    """Return the identity that a skill's server must have.

    Raises:
        PolicyError: the manifest has a number format that this family does not support, or its policy_extras are
            malformed.
    """
    manifest = package.manifest
    quantization = _QUANTIZATION.get(manifest.quantization.dtype)
    if quantization is None:
        raise PolicyError(
            f"{manifest.name}: quantization.dtype {manifest.quantization.dtype} cannot be served; "
            f"write one of {', '.join(_QUANTIZATION)}"
        )
    try:
        extras = RldxExtras.model_validate(dict(manifest.policy_extras))
    except ValidationError as error:
        raise PolicyError(
            f"{manifest.name}: policy_extras: {error.errors()[0]['msg']}; known is embodiment_tag"
        ) from error
    uri = manifest.weights_uri or ""
    if not uri.startswith(HUB):
        return Identity(str(package.checkpoint().absolute()), extras.embodiment_tag, quantization)
    wanted = HubReference.parse(uri)
    revision = wanted.revision if wanted.is_pinned else ""
    return Identity(wanted.repository, extras.embodiment_tag, quantization, revision)
