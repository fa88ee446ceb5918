// The key H keeps what happened last, where the recorder's strategy is "highlight". The server decides whether it is.
document.addEventListener("keydown", (event) => {
  if (event.code !== "KeyH" || event.repeat || window.openralTyping() || event.ctrlKey || event.metaKey || event.altKey) return;
  emitEvent("highlight", {});
});
