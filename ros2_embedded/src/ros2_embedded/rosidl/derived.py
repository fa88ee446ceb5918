"""The message types that rosidl derives from a service or an action definition."""

from __future__ import annotations

from ros2_embedded.rosidl.definition import Definition, Field, FieldType, make_definition
from ros2_embedded.rosidl.parser import parse_message, split_sections

_UUID = FieldType("unique_identifier_msgs/msg/UUID")


def service_definitions(name: str, request: Definition, response: Definition) -> list[Definition]:
    """Return request, response, event, and the whole service `name`, of which the type hash is computed."""
    event = make_definition(
        f"{name}_Event",
        [
            Field("info", FieldType("service_msgs/msg/ServiceEventInfo")),
            Field("request", FieldType(request.name, "sequence", 1)),
            Field("response", FieldType(response.name, "sequence", 1)),
        ],
    )
    whole = make_definition(
        name,
        [
            Field("request_message", FieldType(request.name)),
            Field("response_message", FieldType(response.name)),
            Field("event_message", FieldType(event.name)),
        ],
    )
    return [request, response, event, whole]


def parse_service(text: str, name: str, where: str = "") -> list[Definition]:
    """Return all types of a `.srv` text."""
    request, response = split_sections(text, 2, where or name)
    return service_definitions(
        name,
        parse_message(request, f"{name}_Request", where),
        parse_message(response, f"{name}_Response", where),
    )


def parse_action(text: str, name: str, where: str = "") -> list[Definition]:
    """Return all types of an `.action` text.

    They are goal, result and feedback, and the types of the two services and the topic on the wire.
    """
    goal, result, feedback = (
        parse_message(section, f"{name}_{part}", where)
        for section, part in zip(
            split_sections(text, 3, where or name), ("Goal", "Result", "Feedback"), strict=True
        )
    )
    send_goal = f"{name}_SendGoal"
    get_result = f"{name}_GetResult"
    time = FieldType("builtin_interfaces/msg/Time")
    found = [goal, result, feedback]
    found += service_definitions(
        send_goal,
        make_definition(
            f"{send_goal}_Request", [Field("goal_id", _UUID), Field("goal", FieldType(goal.name))]
        ),
        make_definition(
            f"{send_goal}_Response", [Field("accepted", FieldType("bool")), Field("stamp", time)]
        ),
    )
    found += service_definitions(
        get_result,
        make_definition(f"{get_result}_Request", [Field("goal_id", _UUID)]),
        make_definition(
            f"{get_result}_Response",
            [Field("status", FieldType("int8")), Field("result", FieldType(result.name))],
        ),
    )
    found.append(
        make_definition(
            f"{name}_FeedbackMessage",
            [Field("goal_id", _UUID), Field("feedback", FieldType(feedback.name))],
        )
    )
    return found
