// The cameras' pictures, by a socket of their own (openral_console/picture_socket.py says in which form): the next one of a
// camera comes when this one is shown, and none while the tab is hidden.
(() => {
  const AGAIN_MS = 1000, LATER_MS = 200;
  const names = new TextDecoder();

  function shown(image, jpeg) {
    return new Promise((done) => {
      const address = URL.createObjectURL(jpeg);
      image.onload = image.onerror = () => {
        URL.revokeObjectURL(address);
        done();
      };
      image.src = address;
    });
  }

  const seen = () => new Promise((done) => {
    if (document.hidden) document.addEventListener("visibilitychange", done, { once: true });
    else done();
  });

  async function show(name, jpeg) {
    const image = document.querySelector(`[data-camera="${CSS.escape(name)}"] img`);
    if (image) await shown(image, jpeg);
    else await new Promise((done) => setTimeout(done, LATER_MS));  // its tile is not made yet
    await seen();
    return Math.round((image ? image.clientWidth : 0) * devicePixelRatio);
  }

  function open() {
    const socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}/pictures`);
    socket.binaryType = "arraybuffer";
    socket.onmessage = async ({ data }) => {
      const length = new Uint8Array(data, 0, 1)[0];
      const name = names.decode(new Uint8Array(data, 1, length));
      const width = await show(name, new Blob([new Uint8Array(data, 1 + length)], { type: "image/jpeg" }));
      if (socket.readyState === WebSocket.OPEN) socket.send(`${width} ${name}`);
    };
    socket.onclose = () => setTimeout(open, AGAIN_MS);
  }

  open();
})();
