"""The page's scripts for keys, run by Node without a browser: which element has the focus, and what a key then does."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import openral_console

ASSETS = Path(openral_console.__file__).parent / "assets"
PAGE = """
const listeners = [], did = [], bars = [];
globalThis.window = globalThis;
globalThis.navigator ?? (globalThis.navigator = {});
globalThis.addEventListener = () => {};
globalThis.openralStop = { port: 1, key: "" };
globalThis.location = { protocol: "http:", hostname: "127.0.0.1" };
globalThis.performance ??= { now: () => 0 };
globalThis.fetch = async (url) => { did.push(url); return { ok, text: async () => "no bridge" }; };
globalThis.emitEvent = (name, steer) => did.push(name === "steer" ? `x ${steer.x}` : name);
globalThis.setInterval = () => 1;
globalThis.document = {
  activeElement: null, hidden: false, hasFocus: () => true, documentElement: { dataset: {} },
  addEventListener: (kind, listener, capture) => listeners.push({ kind, listener, capture: Boolean(capture) }),
  getElementById: () => null, querySelector: () => null, querySelectorAll: () => bars,
  createElement: () => ({ classList: { toggle(name, on) { did.push(`${name} ${on}`); } } }),
  body: { prepend: (bar) => bars.push(bar) },
};
"""
PRESS = """
function press(code, key) {
  let stopped = false, reached = false;
  const event = { code, key, repeat: false, target: {}, preventDefault() {},
    stopPropagation() { stopped = true; }, stopImmediatePropagation() { stopped = true; } };
  const run = (capture) => listeners.filter((each) => each.kind === "keydown" && each.capture === capture)
    .forEach((each) => each.listener(event));
  run(true);
  reached = !stopped;
  if (reached) run(false);
  return reached;
}
document.activeElement = focus;
openralTeleop(true, false);
const reached = { Space: press("Space", " "), KeyW: press("KeyW", "w") };
const words = () => bars.map((bar) => bar.textContent);
setTimeout(() => { console.log(JSON.stringify({ did, reached, words: words() })); process.exit(0); }, 0);
"""


def pressed(focus: dict[str, Any], ok: bool = True) -> dict[str, Any]:
    """Return what the space bar and W did on a page that has the arm, and which of them the element was given.

    The page's own elements are not there yet; `ok` is whether a stop is confirmed.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on PATH: apt install nodejs")
    scripts = [(ASSETS / f"{name}.js").read_text() for name in ("stop", "teleop", "highlight")]
    program = "\n".join([PAGE, *scripts, f"const focus = {json.dumps(focus)}, ok = {json.dumps(ok)};", PRESS])
    done = subprocess.run([node, "-"], input=program, capture_output=True, text=True, check=True, timeout=60)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_keys_of_a_page_stop_and_move_also_where_a_list_has_the_focus() -> None:
    """As it has after a speed was chosen; it is an input that nobody can write to."""
    found = pressed({"tagName": "INPUT", "type": "search", "readOnly": True})
    assert found["did"] == ["http://127.0.0.1:1/stop", "/stop", "x 1"]
    assert found["reached"] == {"Space": False, "KeyW": False}


def test_what_is_typed_neither_stops_nor_moves() -> None:
    found = pressed({"tagName": "INPUT", "type": "text", "readOnly": False})
    assert found == {"did": [], "reached": {"Space": True, "KeyW": True}, "words": []}


def test_a_stop_in_vain_is_told_before_the_page_is_whole() -> None:
    """Or where it never is, as with a script that fails."""
    found = pressed({"tagName": "BODY"}, ok=False)
    assert found["words"] == ["NOT stopped. Use the hardware stop. (no bridge)"]
    assert found["did"][-1] == "on true"
