"""The interfaces of the network, as Linux tells them (netdevice(7))."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from ..runtime import is_embedded
from . import DoctorCheck, DoctorReport, Report, Result
from .format import doctor_error, doctor_warn

_FLAGS = {
    "UP": 0x1,
    "BROADCAST": 0x2,
    "LOOPBACK": 0x8,
    "POINTOPOINT": 0x10,
    "RUNNING": 0x40,
    "MULTICAST": 0x1000,
}
"""<net/if.h>"""
_GET = {"inet": 0x8915, "broadcast": 0x8919, "netmask": 0x891B}
"""<linux/sockios.h>: SIOCGIFADDR, SIOCGIFBRDADDR, SIOCGIFNETMASK."""


@dataclass(frozen=True)
class Interface:
    """One of them."""

    name: str
    flags: tuple[str, ...]
    mtu: str
    ether: str
    addresses: dict[str, str]
    """By the keys of `_GET`; those that it has."""


def interfaces() -> list[Interface]:
    """Return all of them."""
    return [_interface(name) for _, name in socket.if_nameindex()]


def _interface(name: str) -> Interface:
    folder = Path("/sys/class/net") / name
    bits = int(_text(folder / "flags") or "0", 16)
    ether = _text(folder / "address")
    return Interface(
        name,
        tuple(flag for flag, bit in _FLAGS.items() if bits & bit),
        _text(folder / "mtu"),
        "" if ether.strip("0:") == "" else ether,
        {key: address for key, number in _GET.items() if (address := _address(name, number))},
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _address(name: str, number: int) -> str:
    request = struct.pack("256s", name.encode()[:15])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            return socket.inet_ntoa(fcntl.ioctl(asking, number, request)[20:24])
        except OSError:
            return ""


class NetworkCheck(DoctorCheck):
    """Loopback can be used; where nodes are searched for by multicast, an interface can do it."""

    def category(self) -> str:
        """Return what it is about."""
        return "network"

    def check(self) -> Result:
        """Connect over loopback, and look at the interfaces."""
        result = Result()
        try:
            with socket.create_server(("127.0.0.1", 0)) as server:
                socket.create_connection(server.getsockname(), timeout=1.0).close()
        except OSError as error:
            doctor_error(f"No loopback IP address is found ({error}): ip link set lo up")
            result.add_error()
        if is_embedded() and os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") != "SUBNET":
            return result  # nodes are found by Unix sockets and named addresses, so nothing else is needed
        outward = [each for each in interfaces() if "LOOPBACK" not in each.flags and "UP" in each.flags]
        if not outward:
            doctor_warn("Only loopback IP address is found: no other machine can be reached.")
            result.add_warning()
        if not any("MULTICAST" in each.flags for each in outward):
            doctor_warn("No multicast IP address is found: nodes of other machines have to be named.")
            result.add_warning()
        return result


class NetworkReport(DoctorReport):
    """The interfaces."""

    def category(self) -> str:
        """Return what it is about."""
        return "network"

    def report(self) -> Report:
        """Return what is known."""
        report = Report("NETWORK CONFIGURATION")
        for each in interfaces():
            report.add_to_report("device", each.name)
            flags = ",".join(each.flags)
            for name, value in {
                **each.addresses,
                "ether": each.ether,
                "flags": flags,
                "mtu": each.mtu,
            }.items():
                if value:
                    report.add_to_report(name, value)
        return report
