"""Prints what a colour image and a depth image cost, in milliseconds of this machine's CPU, for a few scenes."""

import time

from openral_core.scene import load_scene
from openral_sim_bridge.backends.factory import make_backend

FRAMES = 40

for name in ("metaworld_drawer", "tabletop_panda"):
    scene = load_scene(name)
    backend = make_backend(scene)
    camera = next(camera for camera in scene.cameras if camera.depth)
    costs = []
    for draw in (backend.render, backend.render_depth):
        draw([camera.name])
        begun = time.process_time()
        for _ in range(FRAMES):
            draw([camera.name])
        costs.append(1e3 * (time.process_time() - begun) / FRAMES)
    backend.close()
    size = f"{camera.width}x{camera.height}"
    print(f"{name}, {camera.name} {size}: colour {costs[0]:.1f} ms, depth {costs[1]:.1f} ms")
