"""The service with which an operator takes the arm over from the policies and gives it back.

The web page and the CLI call it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openral.srv import Intervene
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNode

from openral_control.chunk_executor import ChunkExecutor
from openral_control.message_checks import GOAL_ID_DIGITS
from openral_control.ros.admission_topics import AdmissionTopics
from openral_core.errors import ContractError, ControlError
from openral_core.message_field_checks import goal_id_field, text_field

MAX_OPERATOR = 64
"""Largest length of an operator's name, in characters."""


class InterventionService:
    """Offers the service `intervene`.

    One operator has the arm at a time. While a node announces the operator's goal, nobody else can take the arm over or
    give it back.
    """

    def __init__(
        self,
        node: LifecycleNode,
        executor: ChunkExecutor,
        admission: AdmissionTopics,
        changed: Callable[[], None],
    ) -> None:
        """Create the service.

        Args:
            node: which offers it.
            executor: of the arm.
            admission: knows the announced goals.
            changed: called after each change, to publish the status.
        """
        self._node, self._executor, self._admission, self._changed = node, executor, admission, changed
        # A callback that waits for a reset of the scene must not block this one.
        group = MutuallyExclusiveCallbackGroup()
        node.create_service(Intervene, "intervene", self._on_request, callback_group=group)

    def _on_request(self, request: Any, response: Any) -> Any:
        try:
            operator = text_field("who", request.who, MAX_OPERATOR).strip() or "an operator"
            goal_id = goal_id_field("goal_id", request.goal_id)
            if goal_id and len(goal_id) != GOAL_ID_DIGITS:
                raise ContractError(
                    f"goal_id: send a UUID as {GOAL_ID_DIGITS} hexadecimal digits, or nothing"
                )
            response.message = (self._take if request.take else self._give_back)(operator, goal_id)
            response.success = True
        except (ContractError, ControlError) as error:
            response.success, response.message = False, str(error)
            return response
        self._node.get_logger().info(f"{operator}: {response.message}")
        self._changed()
        return response

    def _take(self, operator: str, goal_id: str) -> str:
        self._check_holder(goal_id)
        self._executor.take_over(operator, goal_id)
        return "the operator has the arm; policies wait, and their clocks stand still"

    def _give_back(self, operator: str, goal_id: str) -> str:
        held = self._executor.intervention
        if not held.is_on:
            raise ControlError("no operator has the arm; there is nothing to be given back")
        self._check_holder(goal_id)
        self._executor.give_back()
        return "the arm is given back; policies go on from what they see now"

    def _check_holder(self, goal_id: str) -> None:
        """Raise ControlError if an operator whose goal is announced has the arm, unless `goal_id` is that goal."""
        held = self._executor.intervention
        if held.goal_id and held.goal_id != goal_id and self._admission.holds(held.goal_id):
            raise ControlError(f"{held.operator} has the arm and steers it; wait until it is given back")
