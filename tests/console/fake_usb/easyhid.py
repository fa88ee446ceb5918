"""USB without any, in the place of the package easyhid: what pyspacemouse reads here, a test has put into a folder.

The folder is named by the environment variable `OPENRAL_FAKE_USB`. `plugged` in it: a SpaceMouse Compact is there.
`denied`: this user may not open it. `hang`: reading does not return. `reports`: its HID reports, seven bytes each.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

SIZE = 7


class HIDException(Exception):
    pass


class HIDDevice:
    vendor_id, product_id = 0x256F, 0xC635
    path = "/dev/hidraw7"
    product_string, manufacturer_string = "SpaceMouse Compact", "3Dconnexion"
    release_number, serial_number = 1, ""

    def __init__(self, folder: Path) -> None:
        self._folder, self._offset = folder, 0

    def open(self) -> None:
        if (self._folder / "denied").exists():
            raise HIDException("Failed to open device")
        self._offset = (self._folder / "reports").stat().st_size

    def set_nonblocking(self, enable_nonblocking: bool) -> None:
        assert enable_nonblocking

    def read(self, size: int = 64, timeout: int | None = None) -> bytearray:
        while (self._folder / "hang").exists():
            time.sleep(0.01)
        if not (self._folder / "plugged").exists():
            raise HIDException("Failed to read from HID device: -1")
        with (self._folder / "reports").open("rb") as file:
            file.seek(self._offset)
            report = file.read(SIZE)
        if len(report) < SIZE:
            return bytearray()
        self._offset += SIZE
        return bytearray(report[:size].ljust(size, b"\0"))

    def write(self, data: bytearray, report_id: int = 0) -> int:
        return len(data)

    def close(self) -> None:
        pass


Device = HIDDevice


class Enumeration:
    def __init__(self, vid: int = 0, pid: int = 0) -> None:
        folder = Path(os.environ["OPENRAL_FAKE_USB"])
        if (folder / "no_hidapi").exists():
            raise AttributeError("function/symbol 'hid_enumerate' not found in library '<None>'")
        self.device_list = [HIDDevice(folder)] if (folder / "plugged").exists() else []

    def find(self) -> list[HIDDevice]:
        return self.device_list
