"""What goes over the wire is the same as rosidl's own code makes it: type hashes, and the bytes of messages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from real_ros2 import BUILT_HERE, RealRos2

PROGRAM = Path(__file__).with_name("wire_bytes.py")
PACKAGES = (
    "action_msgs",
    "builtin_interfaces",
    "diagnostic_msgs",
    "geometry_msgs",
    "lifecycle_msgs",
    "openral",
    "rcl_interfaces",
    "rosgraph_msgs",
    "sensor_msgs",
    "service_msgs",
    "std_msgs",
    "std_srvs",
    "test_msgs",
    "tf2_msgs",
    "trajectory_msgs",
    "type_description_interfaces",
    "unique_identifier_msgs",
)

PART = re.compile(
    r"(\w+/msg/\w+)|(\w+/srv/\w+)_(Request|Response)|(\w+/action/[^_/]+)_(Goal|Result|Feedback)"
)


def hashes_of(real: RealRos2) -> dict[str, str]:
    """The type hashes that rosidl wrote beside every interface."""
    workspace = real.folder / "workspace/install"
    shares = [real.folder / "share", *(workspace / name / "share" for name in ("openral", *BUILT_HERE))]
    found: dict[str, str] = {}
    for share in shares:
        for package in PACKAGES:
            for kind in ("msg", "srv", "action"):
                for path in (share / package / kind).glob("*.json"):
                    listed = json.loads(path.read_text())["type_hashes"]
                    found |= {each["type_name"]: each["hash_string"] for each in listed}
    return found


def exchanged(python: str, environment: dict[str, str], theirs: dict[str, str]) -> dict[str, str]:
    """Have a runtime read bytes of messages; return its own, or what it read wrongly."""
    done = subprocess.run(
        [python, str(PROGRAM)],
        env=environment,
        input=json.dumps(theirs),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, str] = json.loads(done.stdout)
    wrong = {name: text for name, text in answer.items() if re.fullmatch("[0-9a-f]+", text) is None}
    assert not wrong
    return answer


def sent_types(real: RealRos2) -> Iterator[str]:
    """Names of messages, and of the parts of services and actions."""
    for name in hashes_of(real):
        part = PART.fullmatch(name)
        if part:
            yield "/".join(filter(None, part.groups()))


def test_type_hashes_are_those_of_rosidl(real: RealRos2) -> None:
    from ros2_embedded.rosidl.type_hash import type_hash

    theirs = hashes_of(real)
    assert len(theirs) > 300
    # An action is sent by the services and messages that are made of it; it has a hash itself, which nobody sends.
    sent = {name for name in theirs if "/action/" not in name or "_" in name.rpartition("/")[2]}
    assert [name for name in sorted(sent) if type_hash(name) != theirs[name]] == []


def test_each_reads_what_the_other_writes(real: RealRos2) -> None:
    """Bytes between fields differ, because rosidl leaves them as they are in memory."""
    names = dict.fromkeys(sent_types(real), "")
    assert len(names) > 200
    wheels, embedded = (str(real.python), real.environment), (sys.executable, dict(os.environ))
    written = exchanged(*wheels, names)
    assert exchanged(*embedded, written).keys() == names.keys()
    assert exchanged(*wheels, exchanged(*embedded, names)).keys() == names.keys()
