// Starts the page, and offers what tests need to drive it.

const dark = matchMedia("(prefers-color-scheme: dark)");
setTheme(dark.matches ? "dark" : "light");

const viewer = new Viewer();
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light", viewer.scene && viewer));

const ready = viewer.start().catch((error) => {
  viewer.complain(error.message);
  element("empty").hidden = false;
  element("empty").textContent = "This run cannot be shown.";
});

window.esker = {
  ready,
  frame: () => viewer.shownNumber,
  frames: () => viewer.index.frames.length,
  show: (number) => viewer.show(number),
  fields: () => [...(viewer.grainFields ?? []).map(({ name }) => name), LAYER],
  contactFields: () => (viewer.contactFields ?? []).map(({ name }) => name),
  colourBy: (name) => {
    if (name && !window.esker.fields().includes(name)) throw new Error(`there is no field “${name}”`);
    viewer.settings.colour = name ?? "";
    return viewer.refresh();
  },
  set: (settings) => {
    Object.assign(viewer.settings, settings);
    viewer.interface.follow();
    return viewer.refresh();
  },
  pick: (x, y) => viewer.pick(x, y),
  clip: (clip) => viewer.cut(clip),
  view: (name) => viewer.view(name),
  orthographic: (on) => viewer.orthographic(on),
  camera: () => viewer.camera.state(),
  stats: () => ({
    grains: viewer.frame?.rows ?? 0,
    drawn: viewer.grains && viewer.settings.grow > 0 ? countLeft(viewer.grains, viewer.scene.clip, viewer.settings.grow) : 0,
    lastDrawMs: viewer.scene?.drawMs ?? 0,
    drawnCount: viewer.drawn,
  }),
  pixels: () => {
    viewer.draw(true);
    return viewer.scene.pixels();
  },
  screenshot: () => picture(viewer),
};
