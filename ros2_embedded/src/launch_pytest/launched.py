"""The launch of one fixture, from its start until its end."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest

from launch import LaunchService
from launch_testing.actions.ready import READY

from .background import BackgroundLoop
from .description import described_by
from .fixture import LaunchFixture

_RUNNING = pytest.StashKey[dict[str, list["Launched"]]]()


class Launched:
    """A launch with the tests that use it.

    Args:
        fixture: that describes it.
        service: that runs it.
        loop: in which it runs.
    """

    def __init__(
        self, fixture: LaunchFixture, service: LaunchService, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.fixture = fixture
        self.finished = False
        self._service, self._loop = service, BackgroundLoop(loop)
        self._ready: Future[None] = Future()
        self._over: Future[int] = Future()

    def start(self, value: Any) -> None:
        """Launch what the fixture returned, and wait until tests may begin."""
        name = self.fixture.name
        if self._service.task is not None:
            pytest.fail(
                f"launch fixture '{name}' cannot launch: its launch_service runs the launch of another "
                "fixture; give the launch fixtures of a module the same scope, and a test only one",
                pytrace=False,
            )
        descriptions = described_by(name, value)
        self._service.context.extend_globals({READY: self._on_ready})
        for description in descriptions:
            self._service.include_launch_description(description)
        self._loop.start()
        self._over, _ = self._loop.submit(
            self._service.run_async(shutdown_when_idle=self.fixture.shutdown_when_idle)
        )
        waited_for: list[Future[Any]] = [self._ready, self._over]
        try:
            concurrent.futures.wait(waited_for, return_when=concurrent.futures.FIRST_COMPLETED)
        except BaseException:  # such as a time limit
            self._end(shutdown=True)
            raise
        if not self._ready.done():
            self._end(shutdown=True)
            pytest.fail(
                f"the launch of fixture '{name}' ended before it was ready to be tested" + self._reason(),
                pytrace=False,
            )

    def run(self, awaitable: Awaitable[Any]) -> Any:
        """Await something in the loop of the launch."""
        return self._loop.run(awaitable)

    def finish(self) -> None:
        """Shut the launch down and wait for its end; nothing happens the second time."""
        if self.finished:
            return
        self._end(shutdown=self.fixture.auto_shutdown)
        if self._service.failure is not None:
            pytest.fail(f"the launch of fixture '{self.fixture.name}' failed" + self._reason(), pytrace=False)

    def _end(self, *, shutdown: bool) -> None:
        self.finished = True
        try:
            if shutdown:
                self._loop.call(self._shut_down)
            self._over.result()
        except BaseException:  # such as Ctrl-C: no process is left behind
            self._loop.call(self._shut_down)
            concurrent.futures.wait([self._over])
            raise
        finally:
            self._loop.stop()

    def _shut_down(self) -> None:
        if self._service.task is not None:  # else it has ended, and the next launch would get the event
            self._service.shutdown(force_sync=True)

    def _on_ready(self) -> None:
        if not self._ready.done():
            self._ready.set_result(None)

    def _reason(self) -> str:
        failure = self._service.failure
        return "" if failure is None else f": {str(failure) or type(failure).__name__}"


@contextmanager
def launched(
    fixture: LaunchFixture,
    value: Any,
    session: pytest.Session,
    service: LaunchService,
    loop: asyncio.AbstractEventLoop,
) -> Iterator[Launched]:
    """Launch what a fixture returned; the tests find it by the fixture's name."""
    launch = Launched(fixture, service, loop)
    found = session.stash.setdefault(_RUNNING, {}).setdefault(fixture.name, [])
    with _as_before(service):
        launch.start(value)
        found.append(launch)
        try:
            yield launch
        finally:
            found.remove(launch)
            launch.finish()


@contextmanager
def _as_before(service: LaunchService) -> Iterator[None]:
    """Undo what a launch left in the context: the next launch may have the same service."""
    context = service.context
    handlers, configurations = context.event_handlers, dict(context.launch_configurations)
    environment = dict(context.environment)
    try:
        yield
    finally:
        context.launch_configurations, context.environment = configurations, environment
        for handler in context.event_handlers:
            if handler not in handlers:
                context.unregister_event_handler(handler)


def launch_of(session: pytest.Session, name: str) -> Launched:
    """The launch of a fixture that is set up."""
    found = session.stash.get(_RUNNING, {}).get(name)
    if not found:
        pytest.fail(f"fixture '{name}' that this test sees is no @launch_pytest.fixture", pytrace=False)
    return found[-1]
