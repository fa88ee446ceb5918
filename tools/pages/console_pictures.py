"""Make the pictures of docs/console.md: a deployment, Chromium, and what an operator would do.

    python tools/pages/console_pictures.py

It needs what the tests of the console need, and uses their parts.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("system", "console")]

from console_browser import (  # noqa: E402  they lie in the folders above
    CHROMIUM,
    CONFIRMED,
    WEBGL,
    WIDE,
    open_page,
    release,
    say,
    until_text,
    url_of,
)
from PIL import Image  # noqa: E402
from system_operator import Operator  # noqa: E402
from system_stack import Stack  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = ROOT / "docs" / "console"
TABLET = {"width": 834, "height": 1112}
LAUNCH = (
    "scene:=metaworld_drawer",
    "mission:=close the drawer",
    "exit_when_done:=false",
    "real_time_factor:=0.3",  # a picture takes a second where no GPU draws
)


def take(page: Page, name: str) -> None:
    """Write a picture of what is in view, as WebP."""
    page.wait_for_timeout(600)  # what was just shown is drawn
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.save(FOLDER / f"{name}.webp", quality=90, method=6)


def operate(page: Page, operator: Operator) -> None:
    """Bring the page into each state, and take it."""
    say(page, "open the drawer, then close it")
    until_text(page, "#state", "Moving: open the drawer")
    until_text(page, "#steps", "succeeded")
    until_text(page, "#state", "Moving: close the drawer")
    take(page, "mission")
    until_text(page, "#mission-state", "done")
    say(page, "mess with the drawer")
    until_text(page, "#question", "Did you mean")
    take(page, "question")
    page.locator("#question").get_by_role("button", name="yes").click()
    operator.until_moving()
    page.keyboard.press("Space")
    page.wait_for_function(CONFIRMED)
    until_text(page, "#state", "Stopped")
    page.click("#release")
    take(page, "stopped")
    page.get_by_text("Keep it stopped").click()
    page.set_viewport_size(TABLET)
    take(page, "tablet")
    release(page, operator)


def main() -> int:
    """Make all of them; 1 without a browser."""
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        sys.stderr.write("no Chromium on PATH: apt install chromium\n")
        return 1
    FOLDER.mkdir(exist_ok=True)
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        words = (*LAUNCH, "console:=true", "console_port:=0", f"run_dir:={folder / 'run'}")
        with Stack(folder, "ros2", "launch", "openral", "deploy_sim.launch.py", *words) as stack:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=WEBGL)
            with Operator(stack) as operator:
                operator.until_active("mini_metaworld")
                context = browser.new_context(viewport=WIDE, device_scale_factor=1)
                operate(open_page(context, url_of(stack), faults.append), operator)
            browser.close()
    sys.stderr.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
