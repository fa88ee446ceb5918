// Moving the arm by hand: keys count while they are held, the page has the focus and is seen. A command goes out
// 20 times a second while one is held; nothing else is proof of life, and when none comes the arm holds.
(() => {
  const PERIOD_MS = 50;
  const AXES = {
    KeyW: ["x", 1], KeyS: ["x", -1], KeyA: ["y", 1], KeyD: ["y", -1], KeyR: ["z", 1], KeyF: ["z", -1],
    KeyQ: ["turn", 1], KeyE: ["turn", -1],
  };
  const held = new Set();
  let engaged = false, timer = 0;
  const typing = () => ["INPUT", "TEXTAREA"].includes(document.activeElement?.tagName);

  function send() {
    const steer = { x: 0, y: 0, z: 0, turn: 0, sent_ms: performance.now() };
    for (const code of held) steer[AXES[code][0]] += AXES[code][1];
    emitEvent("steer", steer);
  }

  function release() {
    if (!held.size) return;
    held.clear();
    clearInterval(timer);
    timer = 0;
    send(); // nothing is held: the arm is told so, and need not wait for the end of its chunk
  }

  document.addEventListener("keydown", (event) => {
    if (!engaged || typing() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.code === "KeyG" && !event.repeat) emitEvent("gripper", {});
    if (!(event.code in AXES)) return;
    event.preventDefault();
    if (held.has(event.code)) return;
    held.add(event.code);
    send();
    timer ||= setInterval(() => (document.hasFocus() && !document.hidden ? send() : release()), PERIOD_MS);
  });
  document.addEventListener("keyup", (event) => {
    if (!held.has(event.code)) return;
    if (held.size === 1) return release();
    held.delete(event.code);
    send();
  });
  window.addEventListener("blur", release);
  document.addEventListener("visibilitychange", () => document.hidden && release());
  window.addEventListener("pagehide", release);
  window.openralTeleop = (now) => {
    if (!now) release();
    engaged = now;
    document.documentElement.dataset.hand = now ? "taken" : "";
  };
})();
