"""Wait sets: they hold entities, and wait until one of them has something to do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rclpy.impl.blocking import Wakeups

if TYPE_CHECKING:
    from rclpy.entity import Entity
    from rclpy.handle import Handle


class WaitSet:
    """What a waitable adds its entities to, and then asks; and what programs wait with on their own.

    Entities are those of `Node.create_...`, their `handle`, or what the classes of `rclpy._rclpy_pybind11`
    make. Before the first `wait`, `is_ready` tells how things are at that moment, later what `wait` found.
    """

    def __init__(
        self,
        number_of_subscriptions: int = 0,
        number_of_guard_conditions: int = 0,
        number_of_timers: int = 0,
        number_of_clients: int = 0,
        number_of_services: int = 0,
        number_of_events: int = 0,
        context: Handle | None = None,
    ) -> None:
        """Start empty; the numbers and the context are accepted for rclpy's sake, as nothing needs them."""
        self._entities: dict[str, list[Entity]] = {}
        self._found: set[Entity] | None = None

    def entities(self, kind: str | None = None) -> list[Entity]:
        """Return what was added, of one kind or of all."""
        if kind is not None:
            return self._entities.get(kind, [])
        return [entity for known in self._entities.values() for entity in known]

    def clear_entities(self) -> None:
        """Forget what was added, and what `wait` found."""
        self._entities, self._found = {}, None

    def _add(self, kind: str, entity: Any) -> int:
        known = self._entities.setdefault(kind, [])
        known.append(getattr(entity, "_owner", entity))
        return len(known) - 1

    def add_subscription(self, entity: Any) -> int:
        """Add a subscription; returns its index, for `is_ready`. So for the other kinds."""
        return self._add("subscription", entity)

    def add_client(self, entity: Any) -> int:
        """Add a client."""
        return self._add("client", entity)

    def add_service(self, entity: Any) -> int:
        """Add a service."""
        return self._add("service", entity)

    def add_timer(self, entity: Any) -> int:
        """Add a timer."""
        return self._add("timer", entity)

    def add_guard_condition(self, entity: Any) -> int:
        """Add a guard condition."""
        return self._add("guard_condition", entity)

    def add_event(self, entity: Any) -> int:
        """Add events of a publisher or of a subscription."""
        return self._add("event", entity)

    def is_ready(self, entity_type: str, index: int) -> bool:
        """Return whether an entity that was added has something to do."""
        entity = self._entities[entity_type][index]
        return entity.is_pending() if self._found is None else entity in self._found

    def get_ready_entities(self, entity_type: str) -> list[int]:
        """Return the `pointer` of the handle of each entity of a kind that has something to do."""
        known = self._entities.get(entity_type, [])
        return [entity.handle.pointer for i, entity in enumerate(known) if self.is_ready(entity_type, i)]

    def wait(self, timeout_nsec: int) -> None:
        """Block until an entity has something to do, for at most a time [ns]; negative: without a limit.

        A guard condition that is found is no more triggered.
        """
        entities = self.entities()
        end = None if timeout_nsec < 0 else time.monotonic_ns() + timeout_nsec
        woken = Wakeups()
        unwatch = [entity._watch(woken.wake) for entity in entities]
        try:
            while True:
                self._found = {entity for entity in entities if entity.is_pending()}
                left = None if end is None else end - time.monotonic_ns()
                if self._found or (left is not None and left <= 0):
                    break
                timers: list[Any] = self._entities.get("timer", [])
                # A clock that is simulated tells its timers when they are due.
                waits = [timer.nanoseconds_left() for timer in timers if timer.clock.follows_wall]
                waits = [wait for wait in (left, *waits) if wait is not None]
                woken.wait(max(min(waits), 0) / 1e9 if waits else None)
        finally:
            for stop in unwatch:
                stop()
        for guard in self._found.intersection(self._entities.get("guard_condition", ())):
            guard.take()
