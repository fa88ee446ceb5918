"""Assertions about what processes wrote and how they ended."""

from ..util import NO_CMD_ARGS
from .exit_codes import (
    DEFAULT_ACCEPTABLE_EXIT_CODES,
    EXIT_FORCED,
    EXIT_OK,
    EXIT_SIGINT,
    EXIT_SIGKILL,
    EXIT_SIGQUIT,
    EXIT_SIGSEGV,
    EXIT_SIGTERM,
    assertExitCodes,
)
from .output import (
    SequentialTextChecker,
    assertDefaultStream,
    assertInStderr,
    assertInStdout,
    assertInStream,
    assertSequentialStdout,
)

__all__ = [
    "DEFAULT_ACCEPTABLE_EXIT_CODES",
    "EXIT_FORCED",
    "EXIT_OK",
    "EXIT_SIGINT",
    "EXIT_SIGKILL",
    "EXIT_SIGQUIT",
    "EXIT_SIGSEGV",
    "EXIT_SIGTERM",
    "NO_CMD_ARGS",
    "SequentialTextChecker",
    "assertDefaultStream",
    "assertExitCodes",
    "assertInStderr",
    "assertInStdout",
    "assertInStream",
    "assertSequentialStdout",
]
