"""The exceptions that openral raises on purpose. Each message names the place of the fault and its fix."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class OpenralError(Exception):
    """Base class of all errors that openral raises on purpose; the text can be shown to users as it is."""


class UsageError(OpenralError):
    """A command's options or arguments are invalid, whatever the state of the machine; nothing was begun."""


class InstallationError(OpenralError):
    """A part of openral or a dependency is not installed."""


class ManifestError(OpenralError):
    """A manifest, robot, scene or suite file is wrong. The text reads `file:line: key: what, fix`."""


class NotFoundError(OpenralError):
    """A skill, robot, scene, task or file of that name does not exist. The text lists those that do."""


class ContractError(OpenralError):
    """Data or a contract is not as required, such as a scene that does not fit a skill, or a message's field."""


class DatasetError(OpenralError):
    """A dataset is damaged, of another format, or does not fit the training recipe."""


class LicenseError(OpenralError):
    """The licence of a skill's weights forbids the requested use."""


class EnvelopeError(OpenralError):
    """An action is outside the safety envelope; its chunk must not be executed."""


class ControlError(OpenralError):
    """The loop that moves the arm is busy or has ended."""


class PolicyError(OpenralError):
    """A policy could not be loaded, or its result does not have the declared form."""


class SimulationError(OpenralError):
    """A simulator could not be built, reset, stepped or rendered."""


class SidecarError(OpenralError):
    """A sidecar could not be built, started or queried. `openral_sidecar.errors` has the subclasses."""


class HubError(OpenralError):
    """A request to the hub failed: no network, no such repository, no permission or a broken file."""


class OutputError(OpenralError):
    """A command cannot write its output to the requested place."""


class WeightsError(OpenralError):
    """A file of weights is in a refused format, altered or incomplete."""


def nearest(word: str, known: Sequence[str]) -> str | None:
    """Return the known word that is most similar to `word`, ignoring case, to suggest it; None: none is similar."""
    folded = {name.casefold(): name for name in known}
    found = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None
