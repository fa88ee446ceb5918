"""The errors openral raises on purpose. Each message names the place and the fix."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class OpenralError(Exception):
    """Base of every error that openral raises on purpose; its text is fit to be shown as it is."""


class UsageError(OpenralError):
    """A command's options or arguments cannot be taken, whatever there is on this machine; nothing was begun."""


class InstallationError(OpenralError):
    """A part of openral, or of what it needs, is not installed."""


class ManifestError(OpenralError):
    """A manifest, robot, scene or suite file is wrong. The text reads `file:line: key: what, fix`."""


class NotFoundError(OpenralError):
    """A skill, robot, scene, task or file of that name does not exist. The text lists what does."""


class ContractError(OpenralError):
    """What a scene offers does not fit what a skill demands."""


class DatasetError(OpenralError):
    """A dataset is damaged, of another format, or does not fit the recipe that it is to be learnt with."""


class LicenseError(OpenralError):
    """The licence of a skill's weights forbids what was asked."""


class EnvelopeError(OpenralError):
    """An action left the envelope of the robot; nothing of its chunk may be executed."""


class ControlError(OpenralError):
    """The loop that moves the arm is busy or has ended."""


class PolicyError(OpenralError):
    """A policy could not be loaded or did not answer in the promised form."""


class SimulationError(OpenralError):
    """A simulator could not be built, reset, stepped or rendered."""


class SidecarError(OpenralError):
    """A sidecar could not be built, started or asked. `openral_sidecar.errors` has the finer ones."""


class HubError(OpenralError):
    """The hub did not give what was asked of it: no network, no such repository, no permission, a broken file."""


class OutputError(OpenralError):
    """What a command is to write cannot be written where it was asked to."""


class WeightsError(OpenralError):
    """A file of weights is in a format that is refused, altered, or not whole."""


def nearest(word: str, known: Sequence[str]) -> str | None:
    """Return the known word most like `word`, in whatever case, which an error may suggest; None: none is like it."""
    folded = {name.casefold(): name for name in known}
    found = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None
