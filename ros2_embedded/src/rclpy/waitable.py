"""Waitables: objects of a program that an executor asks whether they have something to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.entity import Entity
from rclpy.impl.wait_set import WaitSet
from rclpy.task import Future


class NumberOfEntities:
    """How many entities of each kind something waits for."""

    __slots__ = (
        "num_clients",
        "num_events",
        "num_guard_conditions",
        "num_services",
        "num_subscriptions",
        "num_timers",
    )

    def __init__(
        self,
        num_subs: int = 0,
        num_gcs: int = 0,
        num_timers: int = 0,
        num_clients: int = 0,
        num_services: int = 0,
        num_events: int = 0,
    ) -> None:
        """Count subscriptions, guard conditions, timers, clients, services and events."""
        self.num_subscriptions, self.num_guard_conditions = num_subs, num_gcs
        self.num_timers, self.num_clients = num_timers, num_clients
        self.num_services, self.num_events = num_services, num_events

    def _counts(self) -> tuple[int, ...]:
        """The numbers in the order of the arguments."""
        return (
            self.num_subscriptions,
            self.num_guard_conditions,
            self.num_timers,
            self.num_clients,
            self.num_services,
            self.num_events,
        )

    def __eq__(self, other: object) -> bool:
        """The same numbers."""
        return isinstance(other, NumberOfEntities) and self._counts() == other._counts()

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: NumberOfEntities) -> NumberOfEntities:
        """The sums."""
        return NumberOfEntities(*map(sum, zip(self._counts(), other._counts(), strict=True)))

    def __iadd__(self, other: NumberOfEntities) -> NumberOfEntities:
        """Add in place."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def __repr__(self) -> str:
        """The numbers."""
        return f"<NumberOfEntities{self._counts()}>"


class Waitable:
    """Base of what `Node.add_waitable` takes. It is asked after each event of its node."""

    def __init__(self, callback_group: CallbackGroup | None) -> None:
        """Join a callback group."""
        self.callback_group = callback_group
        self._futures: list[Future[Any]] = []

    def add_future(self, future: Future[Any]) -> None:
        """Keep a future, so that it is not collected while nobody else holds it."""
        self._futures.append(future)

    def remove_future(self, future: Future[Any]) -> None:
        """Undo `add_future`."""
        self._futures.remove(future)

    def is_ready(self, wait_set: WaitSet) -> bool:
        """True when `take_data` would give something."""
        raise NotImplementedError

    def take_data(self) -> Any:
        """Take what came, so that this is not ready any more."""
        raise NotImplementedError

    async def execute(self, taken_data: Any) -> None:
        """Work on what `take_data` gave."""
        raise NotImplementedError

    def get_num_entities(self) -> NumberOfEntities:
        """How many entities `add_to_wait_set` adds."""
        raise NotImplementedError

    def add_to_wait_set(self, wait_set: WaitSet) -> None:
        """Add what this waits for."""
        raise NotImplementedError


class WaitableEntity(Entity):
    """How an executor sees a waitable."""

    _is_always_heard = False

    def __init__(self, waitable: Waitable) -> None:
        """Wrap it."""
        super().__init__(waitable.callback_group)
        self.waitable = waitable
        self._timers: list[Any] = []

    @property
    def timers(self) -> list[Any]:
        """The timers that the waitable waits for."""
        return self._timers

    def is_pending(self) -> bool:
        """Ask the waitable, with a fresh wait set."""
        wait_set = WaitSet()
        self.waitable.add_to_wait_set(wait_set)
        self._timers = wait_set.entities("timer")
        for entity in wait_set.entities():
            entity._be_heard_by(self.notify)
        return self.waitable.is_ready(wait_set)

    def take(self) -> Callable[[], Any]:
        """Its `execute` on what it took."""
        data = self.waitable.take_data()
        return lambda: self.waitable.execute(data)
