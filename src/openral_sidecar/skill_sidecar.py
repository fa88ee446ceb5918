"""Opens the sidecar of a skill's checkpoint, with the manifest's load time, and with one error for all failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from openral_core.errors import PolicyError, SidecarError
from openral_core.manifest import RSkillManifest
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.identity import Identity
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.sidecar import Sidecar

_SPARE = 3.0
"""Factor on the manifest's `load_ms`, which holds for the hardware that the skill is made for."""


@contextmanager
def skill_sidecar(
    manifest: RSkillManifest,
    spec: SidecarSpec,
    arguments: Sequence[str],
    identity: Identity,
    settings: SidecarSettings,
    *,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Sidecar]:
    """Open the server of a skill, as a context that closes it only if its block fails.

    Args:
        manifest: of the skill. The timeout of loading is that of the settings, or three times its
            `latency_budget.load_ms` if that is longer.
        spec: see `Sidecar.open`, as for the other arguments.
        arguments: arguments of the server's family.
        identity: the model that the server must serve.
        settings: addresses and timeouts.
        progress: called with one line for each step while the environment is built.

    Raises:
        PolicyError: the server does not start, or serves another model; the message names the skill.
    """
    promised_s = _SPARE * (manifest.latency_budget.load_ms or 0.0) * 1e-3
    patient = replace(settings, boot_timeout_s=max(settings.boot_timeout_s, promised_s))
    try:
        sidecar = Sidecar.open(spec, arguments, identity, patient, progress=progress)
    except SidecarError as error:
        raise PolicyError(f"{manifest.name}: {error}") from error
    try:
        yield sidecar
    except BaseException:
        sidecar.close()
        raise
