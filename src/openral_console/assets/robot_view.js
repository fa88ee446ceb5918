// Draws the robot when something in the view has changed: without a GPU, drawing all the time costs half a core.
// `view` is NiceGUI's component of the scene, which asks its renderer for a picture fps times a second.
window.openralDrawOnChange = (view) => {
  if (!view?.renderer?.render) return;  // no WebGL
  const draw = view.renderer.render.bind(view.renderer);
  let before = "";
  view.renderer.render = (scene, camera) => {
    const { width, height } = view.renderer.domElement;
    const now = [width, height];
    const add = ({ id, visible, geometry, material, matrix }) =>
      now.push(id, visible, geometry?.id, material?.color?.getHex(), material?.opacity, ...matrix.elements);
    camera.updateMatrix();
    add(camera);
    scene.traverse((part) => {
      part.updateMatrix();
      add(part);
    });
    const words = now.join();
    if (words === before) return;
    before = words;
    draw(scene, camera);
  };
};
