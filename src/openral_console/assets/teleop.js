// Moving the arm by hand: keys and a gamepad count while they are held, the page has the focus and is seen. A command
// goes out 20 times a second while one is held; nothing else is proof of life, and when none comes the arm holds. With a
// SpaceMouse, which the console reads, commands go out as long as the page is attended.
(() => {
  const PERIOD_MS = 50;
  const AXES = {
    KeyW: ["x", 1], KeyS: ["x", -1], KeyA: ["y", 1], KeyD: ["y", -1], KeyR: ["z", 1], KeyF: ["z", -1],
    KeyQ: ["turn", 1], KeyE: ["turn", -1],
  };
  // The layout "standard" of the W3C's Gamepad specification: left stick right and down, right stick right and down.
  const STICKS = ["y", "x", "turn", "z"];
  const DEAD_ZONE = 0.15;
  const FINGERS = 0, STOP = 1, HOLD = [4, 5]; // A or cross, B or circle, the shoulder buttons
  const held = new Set();
  let engaged = false, cap = false, timer = 0, moving = false, fingersDown = false, stopDown = false;
  const attended = () => document.hasFocus() && !document.hidden;
  const pads = () => [...(navigator.getGamepads?.() ?? [])].filter((pad) => pad?.connected && pad.mapping === "standard");
  const isDown = (pad, button) => Boolean(pad.buttons[button]?.pressed);

  function stick(value) {
    const size = Math.max(0, (Math.min(Math.abs(value), 1) - DEAD_ZONE) / (1 - DEAD_ZONE));
    return Number.isFinite(size) ? -Math.sign(value) * size : 0;
  }

  // `withCap` says that whoever sees this page may move the arm by the SpaceMouse, which the console itself reads.
  function send(pad, withCap = false) {
    const steer = { x: 0, y: 0, z: 0, turn: 0, cap: withCap, sent_ms: performance.now() };
    for (const code of held) steer[AXES[code][0]] += AXES[code][1];
    if (pad) STICKS.forEach((name, index) => { steer[name] += stick(pad.axes[index] ?? 0); });
    for (const name of STICKS) steer[name] = Math.max(-1, Math.min(1, steer[name]));
    emitEvent("steer", steer);
  }

  function look() {
    const present = pads(), pad = attended() ? present.find((each) => HOLD.some((button) => isDown(each, button))) : undefined;
    const stop = present.some((each) => isDown(each, STOP));
    if (stop && !stopDown && document.hasFocus()) document.getElementById("stop")?.click();
    stopDown = stop;
    if (!engaged) return;
    const fingers = Boolean(pad) && isDown(pad, FINGERS);
    if (fingers && !fingersDown) emitEvent("gripper", {});
    fingersDown = fingers;
    if (!attended()) return release();
    if (held.size || pad || cap) {
      moving = true;
      send(pad, cap);
    } else if (moving) {
      release();
    }
  }

  function release() {
    held.clear();
    if (!moving) return;
    moving = false;
    send(); // nothing is held: the arm is told so, and need not wait for the end of its chunk
  }

  document.addEventListener("keydown", (event) => {
    if (!engaged || window.openralTyping() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.code !== "KeyG" && !(event.code in AXES)) return;
    event.preventDefault();
    event.stopPropagation(); // a list that has the focus would look for an entry with this letter
    if (event.code === "KeyG") {
      if (!event.repeat) emitEvent("gripper", {});
      return;
    }
    if (held.has(event.code)) return;
    held.add(event.code);
    look();
  }, true);
  document.addEventListener("keyup", (event) => {
    if (held.delete(event.code)) look();
  });
  window.addEventListener("blur", release);
  document.addEventListener("visibilitychange", () => document.hidden && release());
  window.addEventListener("pagehide", release);
  // Looked at while one is there: a pad may stop the arm whoever moves it.
  const watch = () => {
    const needed = engaged || pads().length > 0;
    if (needed && !timer) timer = setInterval(look, PERIOD_MS);
    if (!needed) {
      clearInterval(timer);
      timer = 0;
    }
    document.documentElement.dataset.pads = pads().length;
  };
  window.addEventListener("gamepadconnected", watch);
  window.addEventListener("gamepaddisconnected", () => (release(), watch()));
  window.openralTeleop = (now, spaceMouse) => {
    if (!now) release();
    engaged = now;
    cap = now && spaceMouse;
    watch();
    document.documentElement.dataset.hand = now ? "taken" : "";
  };
})();
