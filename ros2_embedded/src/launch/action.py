"""The base of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from .condition import Condition
    from .frontend.entity import Entity
    from .frontend.parser import Parser
    from .launch_context import LaunchContext


class Action(LaunchDescriptionEntity):
    """An entity that does something, unless its condition says no."""

    def __init__(self, *, condition: Condition | None = None) -> None:
        self.__condition = condition

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return the class and the keywords that every element in markup may have: `if` or `unless`."""
        from .conditions import IfCondition, UnlessCondition  # here, because conditions import substitutions

        texts = {name: entity.get_attr(name, optional=True) for name in ("if", "unless")}
        if None not in texts.values():
            raise RuntimeError(f"'{entity.type_name}' has both 'if' and 'unless'; join them with $(and ...)")
        for condition, name in ((IfCondition, "if"), (UnlessCondition, "unless")):
            if texts[name] is not None:
                return cls, {"condition": condition(parser.parse_substitution(str(texts[name])))}
        return cls, {}

    @property
    def condition(self) -> Condition | None:
        """The condition that gates this action, if any."""
        return self.__condition

    def describe(self) -> str:
        """Return a short text for people."""
        return f"Action({self!r})"

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Execute the action if its condition holds, then announce `ExecutionComplete` to those who
        listen."""
        if self.__condition is not None and not self.__condition.evaluate(context):
            return None
        from .events import ExecutionComplete  # here, because events import actions

        try:
            return self.execute(context)
        finally:
            event = ExecutionComplete(action=self)
            if context.would_handle_event(event):
                future = self.get_asyncio_future()
                if future is None:
                    context.emit_event_sync(event)
                else:
                    future.add_done_callback(lambda _: context.emit_event_sync(event))

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Do the work; return entities to visit next. The default does nothing."""
        return None
