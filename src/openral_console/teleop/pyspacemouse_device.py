"""SpaceMice of 3Dconnexion through pyspacemouse, which reads their HID reports; no driver of the maker is needed."""

from __future__ import annotations

from typing import Any

from openral_console.teleop.space_mouse_device import SpaceMouseError, SpaceMouseReport
from openral_core.errors import InstallationError

NOT_INSTALLED = "pyspacemouse is not installed: pip install 'openral[spacemouse]'"
NO_HIDAPI = (
    "the library hidapi is not installed, which pyspacemouse reads devices by: apt install libhidapi-hidraw0"
)
NONE_THERE = "no SpaceMouse is plugged in"
UDEV_RULE = 'KERNEL=="hidraw*", ATTRS{idVendor}=="256f", TAG+="uaccess"'
"""Gives whoever sits at the machine the devices of 3Dconnexion; older products have Logitech's 046d."""
UDEV_FILE = "/etc/udev/rules.d/70-spacemouse.rules"
BUTTONS = (("LEFT", "RIGHT"), ("BTN_1", "ESC"), ("BTN_1", "BTN_2"))
"""Names of the buttons for fingers and stop, by product: the first pair that a product has. Others have none."""


def check_pyspacemouse() -> None:
    """See that devices can be looked for.

    Raises:
        InstallationError: pyspacemouse or hidapi is missing.
    """
    try:
        import pyspacemouse
    except ImportError as error:
        raise InstallationError(NOT_INSTALLED) from error
    except OSError as error:  # cffi found a library that it cannot load
        raise InstallationError(f"{NO_HIDAPI} ({error})") from error
    try:
        pyspacemouse.get_connected_devices()
    except RuntimeError as error:  # by which pyspacemouse says that hidapi has none of its functions
        raise InstallationError(NO_HIDAPI) from error


class PySpaceMouseDevice:
    """One open device, the first that is found."""

    def __init__(self) -> None:
        """Open it.

        Raises:
            SpaceMouseError: none is plugged in, or this user may not read it.
        """
        import pyspacemouse

        found = pyspacemouse.get_connected_devices_by_path()
        if not found:
            raise SpaceMouseError(NONE_THERE)
        path, product = next(iter(found.items()))
        try:
            # Forward, left, up and counterclockwise are positive (REP 103), as with the keys.
            self._device: Any = pyspacemouse.open(
                device=product, axis_convention=pyspacemouse.AxisConvention.ROS
            )
        except RuntimeError as error:
            raise SpaceMouseError(
                f"{product} at {path} cannot be opened: {error}. If this user may not read it, write "
                f"{UDEV_RULE} into {UDEV_FILE} and plug it in again"
            ) from error
        self.name = product
        names = list(self._device.info.button_names)
        pair = next((pair for pair in BUTTONS if set(pair) <= set(names)), ())
        self._buttons = tuple(names.index(name) for name in pair)
        self._read_s = -1.0  # [s] of the newest report; a device that has reported nothing says the same

    def read(self) -> SpaceMouseReport | None:
        """Return the oldest report that was not read yet; None: none waits. Raises SpaceMouseError: it is gone."""
        from easyhid import HIDException

        try:
            state = self._device.read()  # one report at most
        except HIDException as error:
            raise SpaceMouseError(f"{self.name} was pulled out: {error}") from error
        if state.t == self._read_s:
            return None
        self._read_s = state.t
        down = [bool(state.buttons[index]) for index in self._buttons] or [False, False]
        return SpaceMouseReport(state.x, state.y, state.z, state.yaw, *down)

    def close(self) -> None:
        """Let it go."""
        self._device.close()
