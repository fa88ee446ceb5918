"""The recorder on the page, in a real browser: what is pressed there is what lies on the disk afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from console_browser import actions, until_text
from system_operator import Operator
from system_stack import Stack

from openral_data.datasets.check import dataset_faults

pq = pytest.importorskip("pyarrow.parquet", reason="pip install 'openral[train]'")

if TYPE_CHECKING:
    from playwright.sync_api import Page

A_COUNT = "/^\\d+$/.test(document.querySelector(\"[data-recorder='steps missing']\")?.innerText)"
"""Whether the page says how many control steps the recorder did not hear of."""
pytestmark = pytest.mark.timeout(400)


def recorder(stack: Stack, folder: Path, strategy: str) -> Stack:
    """A recorder beside a deployment."""
    given = {"scene": "metaworld_drawer", "strategy": strategy, "folder": str(folder / "recording")}
    words = [word for name, value in given.items() for word in ("-p", f"{name}:={value}")]
    command = ("ros2", "run", "openral", "recorder", "--ros-args", "-r", "__ns:=/openral", *words)
    return Stack(folder, *command, domain=stack.domain)


def episodes_of(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(
        folder / "recording" / "dataset" / "meta" / "episodes"
    ).to_pylist()
    return found


def until_frames(page: Page, count: int) -> None:
    """Wait until an episode of so many frames is being recorded."""
    page.wait_for_function(
        "count => Number(/(\\d+) frames/.exec(document.querySelector('#recording').innerText)?.[1]) >= count",
        arg=count,
    )


def test_an_episode_is_begun_again_marked_and_kept(
    page: Page, operator: Operator, stack: Stack, tmp_path: Path
) -> None:
    assert not page.is_visible("#recorder"), "there is no recorder"
    with recorder(stack, tmp_path, "episodes") as recording:
        until_text(page, "#recording", "Not recording (episodes)")
        assert not page.is_visible("[data-order=highlight]")
        page.click("[data-order=start]")
        until_frames(page, 12)
        page.click("[data-order=again]")
        page.wait_for_function("/ [0-9] frames/.test(document.querySelector('#recording').innerText)")
        until_frames(page, 10)
        page.click("[data-mark=success]")
        until_text(page, "#recording-said", "marked success")
        page.click("[data-order=stop]")
        until_text(page, "[data-recorder=kept]", "1 episode")
        until_text(page, "[data-recorder=free]", "GB")
        page.wait_for_function(A_COUNT)  # a machine that is busy enough loses some

        page.click("[data-order=start]")
        until_frames(page, 1)
        page.click("[data-order=discard]")
        until_text(page, "#recording", "Not recording")
        recording.interrupt()
        assert recording.wait() == 0
    until_text(page, "#recording", "The recorder is silent")

    dataset = tmp_path / "recording" / "dataset"
    (episode,) = episodes_of(tmp_path)
    assert (episode["outcome"], episode["outcome_source"]) == ("success", "operator")
    info = json.loads((dataset / "meta" / "info.json").read_text())
    assert info["total_frames"] == episode["length"] >= 10
    assert list(dataset_faults(dataset)) == []
    done = actions(stack)
    assert [line for line in done if "episode" in line or "marked" in line] == [
        "began an episode",
        "discarded an episode and began it again",
        "marked success",
        "ended an episode",
        "began an episode",
        "discarded an episode",
    ]


@pytest.mark.long
def test_the_key_h_keeps_what_happened_last(page: Page, stack: Stack, tmp_path: Path) -> None:
    with recorder(stack, tmp_path, "highlight") as recording:
        until_text(page, "#recording", "Recording")
        assert not page.is_visible("[data-order=start]")
        until_frames(page, 10)
        page.click("#prompt")
        page.keyboard.type("h")  # a letter of an order is no highlight
        page.fill("#prompt", "")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("h")
        until_text(page, "[data-recorder=kept]", "1 episode")
        until_text(page, "#recording-said", "kept a highlight")
        recording.interrupt()
        assert recording.wait() == 0
    (episode,) = episodes_of(tmp_path)
    assert episode["length"] >= 10
    assert list(dataset_faults(tmp_path / "recording" / "dataset")) == []
    assert actions(stack).count("kept a highlight") == 1
