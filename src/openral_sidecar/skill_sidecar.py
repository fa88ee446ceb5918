"""The sidecar that a skill's checkpoint runs in: as patient as the manifest says, with one error for all failures."""

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
"""Times the promised `load_ms`: the promise is for the hardware that the skill is meant for."""


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
    """Open the server of a skill; it is left again if what is made of it fails, and else stays with its maker.

    Args:
        manifest: of the skill. Loading may take as long as the settings say, and thrice `latency_budget.load_ms` where
            that is longer.
        spec: see `Sidecar.open`, as for the others.
        arguments: the family's own.
        identity: which model it must be.
        settings: where, and how patiently.
        progress: told one line a step while the environment is built.

    Raises:
        PolicyError: it does not start, or another model answers; the text names the skill.
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
