"""The objects that every part of the page uses."""

from __future__ import annotations

from dataclasses import dataclass

from openral_console.audit_log import ActionLog
from openral_console.listen_options import ListenOptions
from openral_console.live.deployment import Controls, LiveDeployment, ManualControl
from openral_console.sessions import Sessions
from openral_console.teleop.space_mouse import SpaceMouse


@dataclass(frozen=True)
class PageContext:
    """One console's parts."""

    deployment: LiveDeployment
    controls: Controls
    manual_control: ManualControl
    actions: ActionLog
    sessions: Sessions
    options: ListenOptions
    namespace: str
    """Of the deployment, such as /arm2."""
    space_mouse: SpaceMouse | None = None
    """At the machine of the console; None: it was not asked for."""
