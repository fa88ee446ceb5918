// The stop of the page. It needs neither Vue nor the websocket: one handler, two requests, and the first "stopped" counts.
// window.openralStop has `port`, of the process that serves the stop alone, and `key`, which says who presses.
(() => {
  const PATIENCE_MS = 4000;
  // Not where one of several is chosen, which is an input that cannot be written to.
  const typing = () => {
    const at = document.activeElement;
    return Boolean(at) && (at.tagName === "TEXTAREA" || at.isContentEditable ||
      (at.tagName === "INPUT" && !at.readOnly && !["button", "checkbox", "radio", "range"].includes(at.type)));
  };
  window.openralTyping = typing;

  function send(url, body) {
    const gone = new AbortController();
    setTimeout(() => gone.abort(), PATIENCE_MS);
    return fetch(url, { method: "POST", body, signal: gone.signal, cache: "no-store" }).then(async (answer) => {
      if (!answer.ok) throw new Error((await answer.text()).trim());
    });
  }

  // The page's own bar comes with Vue. Before it is there, or where it never comes, another one says it.
  function alarm(words) {
    let bars = [...document.querySelectorAll("#alarm, #early-alarm")];
    if (!bars.length && words) {
      const bar = Object.assign(document.createElement("div"), { id: "early-alarm", className: "c-alarm", role: "alert" });
      document.body.prepend(bar);
      bars = [bar];
    }
    for (const bar of bars) {
      bar.textContent = words;
      bar.classList.toggle("on", Boolean(words));
    }
  }

  window.openralAlarm = alarm;

  const underWay = new Set();
  // A release waits for this: the slower of two ways would stop again what has been released.
  window.openralStopAnswered = () => Promise.allSettled(underWay);

  // `path` is /stop, for this deployment, or /stop-all, for every one in its domain.
  async function stop(path, words) {
    const { port, key } = window.openralStop;
    document.documentElement.dataset.stop = "asked";
    const ways = [send(`${location.protocol}//${location.hostname}:${port}${path}`, key), send(path, "")];
    for (const way of ways) {
      underWay.add(way);
      way.catch(() => {}).finally(() => underWay.delete(way));
    }
    try {
      await Promise.any(ways);
      document.documentElement.dataset.stop = "confirmed";
      alarm("");
    } catch (failed) {
      document.documentElement.dataset.stop = "failed";
      const why = new Set((failed.errors || [failed]).map((error) => error.message));
      alarm(`${words}. Use the hardware stop. (${[...why].join("; ")})`);
    }
  }

  const stopThis = () => stop("/stop", "NOT stopped");
  document.addEventListener("keydown", (event) => {
    // What was typed is on its way: the space bar is the stop's again.
    if (event.key === "Enter" && event.target.id === "prompt") setTimeout(() => event.target.blur(), 0);
    const wanted = typing() ? event.key === "Escape" : event.code === "Space";
    if (!wanted) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat) stopThis();
  }, true);
  document.addEventListener("click", (event) => {
    if (!event.target.closest) return;
    if (event.target.closest("#stop")) stopThis();
    if (event.target.closest("#stop-all")) stop("/stop-all", "NOT all are stopped");
  }, true);
  const hint = () => {
    const key = document.querySelector("#stop kbd");
    if (key) key.textContent = typing() ? "Esc" : "Space";
  };
  document.addEventListener("focusin", hint);
  document.addEventListener("focusout", () => setTimeout(hint, 0));
})();
