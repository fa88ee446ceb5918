"""Stopping a process: asked, told, made."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Sequence

from .child import ChildProcess

_POLL_S = 0.05


async def stop_process(
    child: ChildProcess,
    name: str,
    stages: Sequence[tuple[signal.Signals, float]],
    hurry: asyncio.Event,
    logger: logging.Logger,
) -> None:
    """Send one signal after the other until the process and all it started are gone.

    Args:
        child: the process.
        name: its name in the launch.
        stages: signals, each with the time [s] the process then has.
        hurry: set from outside to go on to the next signal at once; cleared here each time.
        logger: receives a line for each signal.
    """
    gone = asyncio.ensure_future(_wait_gone(child))
    try:
        for index, (number, timeout) in enumerate(stages):
            if gone.done():
                return
            logger.info(f"sending signal '{number.name}' to process[{name}]")
            child.send_signal(number)
            hurried = asyncio.ensure_future(hurry.wait())
            await asyncio.wait({gone, hurried}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if not hurried.cancel():
                hurry.clear()
            elif not gone.done() and index + 1 < len(stages):
                logger.error(
                    f"process[{name}] failed to terminate '{timeout:g}' seconds "
                    f"after receiving '{number.name}', "
                    f"escalating to '{stages[index + 1][0].name}'"
                )
        if not gone.done():
            logger.error(
                f"process[{name}] survived '{stages[-1][0].name}'; processes left: {sorted(child.members())}"
            )
    finally:
        gone.cancel()


async def _wait_gone(child: ChildProcess) -> None:
    await child.exited.wait()
    while child.members():
        await asyncio.sleep(_POLL_S)
