// The key H keeps what happened last, where the recorder's strategy is "highlight". The server decides whether it is.
document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "TEXTAREA"].includes(document.activeElement?.tagName);
  if (event.code !== "KeyH" || event.repeat || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  emitEvent("highlight", {});
});
