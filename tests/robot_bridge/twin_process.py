"""A twin of an arm in a process of its own, as `openral robot twin` runs it."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

_numbers = itertools.count(1)


class TwinProcess:
    """`openral robot twin` on a loopback address of its own, or on a given one."""

    def __init__(self, scene: str = "fr3_tabletop", address: str = "", *options: str) -> None:
        pid = os.getpid()
        self.address = address or f"127.{16 + next(_numbers) % 200}.{pid >> 8 & 255}.{1 + pid % 250}"
        # A busy machine may be late by many milliseconds; then the twin's time stands still.
        command = ["robot", "twin", scene, "--address", self.address, "--patience-ms", "50", *options]
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("openral"), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert self._line().startswith("ready")

    def tell(self, line: str) -> str:
        """Tell the twin what happens to it; return what it says of itself then."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        return self._line()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()
