"""The service by which an operator takes the arm from the policies, and gives it back; page and CLI both call it."""

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
"""Characters of a name."""


class InterventionService:
    """`intervene`. One operator has the arm at a time, as long as the node that steers announces its goal."""

    def __init__(
        self,
        node: LifecycleNode,
        executor: ChunkExecutor,
        admission: AdmissionTopics,
        changed: Callable[[], None],
    ) -> None:
        """Offer it.

        Args:
            node: which offers it.
            executor: whose arm it is about.
            admission: knows which goals are announced.
            changed: called after each change, to tell the graph.
        """
        self._node, self._executor, self._admission, self._changed = node, executor, admission, changed
        # What waits for a reset of the scene must not hold this up.
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
        """Refuse to take the arm out of the hand of somebody who steers it."""
        held = self._executor.intervention
        if held.goal_id and held.goal_id != goal_id and self._admission.holds(held.goal_id):
            raise ControlError(f"{held.operator} has the arm and steers it; wait until it is given back")
