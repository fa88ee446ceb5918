"""The end of the launch as an action."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..action import Action
from ..events import Shutdown as ShutdownEvent
from ..events.process import ProcessExited
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..launch_description_entity import LaunchDescriptionEntity
from ..logging import get_logger
from ..some_substitutions_type import SomeSubstitutionsType
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


@expose_action("shutdown")
class Shutdown(Action):
    """Shuts the launch down.

    As the reaction to the end of a process (`on_exit=Shutdown()`) it makes that process a required one: the
    launch returns the process's exit code, 128 plus the signal's number when a signal ended it.
    """

    def __init__(self, *, reason: SomeSubstitutionsType = "reason not given", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__reason = normalize_to_list_of_substitutions(reason)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        reason = entity.get_attr("reason", optional=True)
        if reason is not None:
            kwargs["reason"] = parser.parse_substitution(reason)
        return cls, kwargs

    def describe(self) -> str:
        """Return the reason in words."""
        return f"Shutdown({' + '.join(sub.describe() for sub in self.__reason)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Emit the event that ends the launch."""
        reason = perform_substitutions(context, self.__reason)
        event = context.get_locals_as_dict().get("event")
        code = 0
        if isinstance(event, ProcessExited):
            code = event.returncode if event.returncode >= 0 else 128 - event.returncode
            if not context.is_shutdown:  # else it ends because the system does, not the other way round
                get_logger("launch").info(
                    f"process[{event.process_name}] was required: shutting down launched system"
                    + ("" if reason == "reason not given" else f" ({reason})")
                )
        context.emit_event_sync(ShutdownEvent(reason=reason, return_code=code))
        return None
