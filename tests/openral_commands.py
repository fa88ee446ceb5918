"""Several commands of openral in one process, which takes a second to begin: how each ended, and what it said."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

PATIENCE_S = 240.0
PROGRAM = """
import contextlib, io, json, os, sys, traceback
from openral_cli.app import main
ran = []
for words, variables in json.loads(sys.argv[1]):
    code, out, err, before = 0, io.StringIO(), io.StringIO(), dict(os.environ)
    os.environ.update(variables)
    sys.argv = ["openral", *words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
    ran.append((code, out.getvalue(), err.getvalue()))
    os.environ.clear()
    os.environ.update(before)
print(json.dumps(ran))
"""


class Ran(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


Words = Sequence[str]


def openral_commands(
    *several: Words | tuple[Words, dict[str, str]], most_memory: int | None = None, **variables: str
) -> list[Ran]:
    """Run commands of openral one after another; a wait that has no end fails by its time-out.

    Args:
        *several: the words of each, or its words and variables of its own.
        most_memory: address space [byte]; None: no limit.
        **variables: of the environment of all.
    """
    words = [one if isinstance(one, tuple) and isinstance(one[-1], dict) else (one, {}) for one in several]

    def bound() -> None:
        if most_memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (most_memory, most_memory))

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(words)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=PATIENCE_S,
        preexec_fn=bound,
        env={**os.environ, "COLUMNS": "250", "OMP_NUM_THREADS": "1", **variables},
    )
    return [Ran(*one) for one in json.loads(done.stdout)]
