"""What `ros2 topic hz` and `delay` say while messages come, and when they no longer do."""

from __future__ import annotations

import pytest
from std_msgs.msg import Header

from ros2cli.cli import main
from ros2cli.verbs.topic import delay, hz


class Stamped:
    """A message with a header."""

    header = Header()


@pytest.mark.parametrize(("verb", "word"), [(hz, "average rate: 10.000"), (delay, "average delay: ")])
def test_a_topic_that_fell_silent_is_reported_no_longer(monkeypatch, verb, word):
    reports = []

    def measure(node, args, take, report):
        for burst in ((0.0, 0.1), (), (0.2,), ()):
            for now in burst:
                take(Stamped, now)
            reports.append(report())

    monkeypatch.setattr(verb, "measure", measure)
    assert main(["topic", verb.__name__.rpartition(".")[2], "/x"]) == 0
    assert [text.startswith(word) for text in reports] == [True, False, True, False]
    assert reports[1] == reports[3] == ""
