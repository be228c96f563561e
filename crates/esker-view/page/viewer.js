// The viewer: which frame is shown, how it is shown, and what has to be loaded for that.

/** More arrows than this are not told apart. */
const MOST_ARROWS = 20000;

class Viewer {
  constructor() {
    this.source = openSource();
    this.store = new Store(this.source);
    this.settings = {
      colour: null, map: "viridis", low: null, high: null, grow: 1, walls: true, clip: null, trails: false,
      contacts: false, contactField: "normal force", contactWidth: 7, arrows: false, arrowField: "velocity", arrowLength: 0,
    };
    this.index = { frames: [], blocks: {} };
    this.head = null;
    this.frame = null;
    this.shownNumber = -1;
    this.wanted = 0;
    this.legends = [];
    this.picked = [];
    this.drawn = 0;
    this.recorder = new Recorder(this);
    this.player = new Player(this);
    this.trails = new Trails(this);
  }

  /** Opens the run and shows a frame of it: the first, or the last of one that is still running. */
  async start() {
    const index = await this.source.index();
    this.head = index.head;
    document.title = this.head.title;
    element("title").textContent = this.head.title;
    this.camera = new Camera(this.head);
    this.scene = new Scene(element("view"), this.head.planar);
    this.scene.canvas.addEventListener("webglcontextlost", () => this.complain("The graphics card was lost: load the page again."));
    this.interface = new Interface(this);
    this.card = new Card(this);
    this.plots = new Plots(this);
    this.pointer = new Pointer(this, this.scene.canvas);
    this.themeChanged();
    this.takeIndex(index);
    this.interface.follow();
    new ResizeObserver(() => this.requestDraw()).observe(this.scene.canvas);
    this.loadSeries();
    this.showFacts();
    await this.show(this.index.running ? Infinity : 0);
    if (this.index.running) this.poll();
  }

  /** A new list of frames; after a continued run what was known may be wrong. */
  takeIndex(index) {
    const { frames: old } = this.index;
    const changed = old.some((frame, k) => frame.at !== index.frames[k]?.at || frame.step !== index.frames[k]?.step);
    const atEnd = this.wanted >= old.length - 1;
    this.index = index;
    if (changed) {
      for (const keeper of [this.store, this.trails, this.plots]) keeper.forget();
      this.layers = null;
      this.shownNumber = -1;
    }
    element("live").hidden = !index.running;
    if (index.problem && index.problem !== this.problem) this.complain(index.problem);
    this.problem = index.problem;
    const empty = element("empty");
    empty.hidden = index.frames.length > 0;
    empty.textContent = index.running ? "This run has no frames yet. They will appear here." : "This run has no frames.";
    if (this.wanted > index.frames.length - 1) this.wanted = Math.max(index.frames.length - 1, 0);
    this.interface.time();
    return { follow: atEnd && !this.player.playing, news: changed || index.frames.length !== old.length };
  }

  async poll() {
    while (this.index.running) {
      await new Promise((done) => setTimeout(done, 1000));
      try {
        const { follow, news } = this.takeIndex(await this.source.index());
        if (news) {
          await this.show(follow ? Infinity : this.wanted);
          if (this.plots.open) await this.loadSeries();
        }
        this.lost = false;
      } catch (error) {
        // Said once: the next try is in a second.
        if (!this.lost) this.complain(error.message);
        this.lost = true;
      }
    }
    this.loadSeries();
  }

  async loadSeries() {
    try {
      this.plots.setSeries(readSeries(await this.source.series()));
    } catch (error) {
      this.complain(`series.csv cannot be read: ${error.message}`);
    }
  }

  async showFacts() {
    try {
      const run = JSON.parse((await this.source.run()) ?? "null");
      if (run) this.interface.facts([run.program, run.scene, run.outcome?.kind].filter(Boolean).join(" · "));
    } catch (error) {
      this.complain(`run.json cannot be read: ${error.message}`);
    }
  }

  complain(message) {
    element("alert-text").textContent = message;
    element("alert").hidden = false;
  }

  loadFrame(number) {
    return this.store.frame(this.index.frames[number], this.index.blocks);
  }

  /** Shows a frame; resolved when it, or one asked for later, is drawn. */
  show(number) {
    this.wanted = clamp(number, 0, Math.max(this.index.frames.length - 1, 0));
    return this.chase();
  }

  /** The same frame with other settings. */
  refresh() {
    this.stale = true;
    return this.chase();
  }

  /** Works until what is wanted is shown; only one such chase at a time, so that a slider cannot pile up work. */
  chase() {
    this.chasing ??= this.catchUp().finally(() => (this.chasing = null));
    return this.chasing;
  }

  async catchUp() {
    while (this.index.frames.length && (this.stale || this.wanted !== this.shownNumber)) {
      const number = this.wanted;
      this.stale = false;
      try {
        const frame = await this.loadFrame(number);
        await this.prepare(frame, number);
      } catch (error) {
        this.complain(`Frame ${number + 1} cannot be shown: ${error.message}`);
        // The slider goes on; the picture stays as it was.
        if (this.wanted === number) break;
        continue;
      }
      this.interface.time();
      await this.draw();
      this.plots.draw();
      if (this.picked.length) this.card.show(this.picked.at(-1));
    }
  }

  async prefetch(number) {
    const info = this.index.frames[number];
    if (!info) return;
    try {
      const frame = await this.loadFrame(number);
      await Promise.all(["position", this.field?.column].map((name) => frame.column("grains", name)));
    } catch {
      // Told when the frame is to be shown.
    }
  }

  /** Loads what the settings ask for, then hands it to the scene all at once. */
  async prepare(frame, number) {
    const { settings, scene, head, camera } = this;
    const grainFields = frame.grainFields(head);
    const contactFields = frame.contactFields(head);
    settings.colour ??= firstColour(grainFields);
    const layer = { name: LAYER, unit: "" };
    const field = settings.colour === LAYER ? layer : grainFields.find(({ name }) => name === settings.colour);
    const contactField = contactFields.find(({ name }) => name === settings.contactField) ?? contactFields[0];
    const vectors = frame.columns("grains").filter(({ name, components }) => components.length === 3 && hasSize(name, components));
    const arrowField = vectors.find(({ name }) => name === settings.arrowField) ?? vectors[0];

    const grains = await packed(frame);
    const orientation = head.planar ? await frame.column("grains", "orientation") : null;
    const values = field === layer ? await this.layerValues(frame) : field ? await frame.grainValues(field) : null;
    const walls = await wallGeometry(frame);
    const bounds = boundsOf(grains, walls.corners);
    const nothing = new Float32Array(0);
    const showContacts = settings.contacts && contactField !== undefined;
    const contacts = showContacts ? { lines: await frame.contactLines(), values: await frame.contactValues(contactField) } : null;
    const arrows = settings.arrows && arrowField ? this.arrowLines(grains, await frame.column("grains", arrowField.name)) : nothing;
    const longest = size(subtract(bounds.high, bounds.low)) / 3;
    const trails = settings.trails ? await this.trails.lines(this.picked, number, longest) : nothing;
    const rings = await ringsOf(frame, this.picked, grains);

    const outline = outlineOf(grains, walls.corners);
    Object.assign(this, { frame, shownNumber: number, grains, bounds, outline, field, grainFields, contactFields });
    scene.setGrains(grains, values, orientation && spins(orientation));
    scene.setWalls(walls);
    scene.setLines("arrows", arrows);
    scene.setLines("trails", trails);
    scene.setRings(rings);
    this.colourGrains(field, values);
    if (contacts) this.colourContacts(contactField, contacts);
    const { grow, walls: showWalls, arrows: showArrows } = settings;
    scene.look = { grow, walls: showWalls, contacts: showContacts, arrows: showArrows, dim: showContacts ? 0.7 : 0 };
    this.applyClip();
    camera.bounds(bounds);
    if (!this.fitted && outline.length) {
      this.fitted = true;
      scene.resize();
      camera.aspect = scene.canvas.width / scene.canvas.height;
      camera.fit(outline);
    }
    this.interface.fields(grainFields, contactFields, vectors.map(({ name }) => name));
    this.plots.setFields(grainFields, contactFields);
  }

  colourGrains(field, values) {
    const { scene, settings } = this;
    this.legends = [];
    scene.colour = { mapped: !!values, span: [0, 1] };
    if (!values) return;
    const { names, name, unit: unitName } = field;
    const map = settings.map;
    scene.paint(scene.maps.grains, colourTable(map, !!names));
    const layers = name === LAYER;
    scene.colour.span = names ? [0, 255] : layers ? [0, LAYERS - 1] : colourRange(values, settings, map);
    this.legends.push({ title: name, unit: unitName, names, map, span: scene.colour.span, steps: layers ? LAYERS : null });
  }

  colourContacts(field, { lines, values }) {
    const { scene, settings } = this;
    const map = settings.map === "magma" ? "viridis" : "magma";
    // What is strong stands out from the background.
    const flip = document.documentElement.dataset.theme !== "dark";
    const [low, high] = range(values);
    const span = [Math.min(low, 0), high > Math.min(low, 0) ? high : 1];
    scene.setLines("contacts", lines, values);
    scene.paint(scene.maps.contacts, colourTable(map, false, flip));
    scene.contactColour = { span, strength: span, width: settings.contactWidth };
    this.legends.push({ title: `contacts: ${field.name}`, unit: field.unit, map, span, flip });
  }

  async layerValues(frame) {
    this.layers ??= new Layers(await this.loadFrame(0), upward(this.head));
    return this.layers.of(frame);
  }

  /** Arrows from the centres, the longest some radii long. */
  arrowLines(grains, vectors) {
    const count = grains.length / 4;
    const stride = Math.ceil(count / MOST_ARROWS) || 1;
    let longest = 0;
    for (let at = 0; at < 3 * count; at += 3) longest = Math.max(longest, Math.hypot(vectors[at], vectors[at + 1], vectors[at + 2]));
    const scale = longest > 0 ? (8 * (this.scene.typicalRadius || grains[3]) * 2 ** this.settings.arrowLength) / longest : 0;
    const lines = new Float32Array(6 * Math.ceil(count / stride));
    for (let row = 0, at = 0; row < count; row += stride, at += 6) {
      for (let c = 0; c < 3; c++) {
        lines[at + c] = grains[4 * row + c];
        lines[at + 3 + c] = grains[4 * row + c] + scale * vectors[3 * row + c];
      }
    }
    return lines;
  }

  colourField() {
    return this.grainFields?.find(({ name }) => name === this.settings.colour);
  }

  requestDraw() {
    if (this.asked) return;
    this.asked = true;
    this.scene.finished.then(() => requestAnimationFrame(() => this.draw()));
  }

  draw(fine = false) {
    this.asked = false;
    const { scene, camera } = this;
    scene.resize();
    const finished = scene.draw(camera, fine);
    this.drawn++;
    clearTimeout(this.rest);
    if (!fine) finished.then(() => this.refine());
    if (this.frame) this.drawLegend();
    return finished;
  }

  /** A view that stays is worth smooth edges, unless they would take long. */
  refine() {
    clearTimeout(this.rest);
    if (this.scene.drawing || this.scene.drawMs > 150 || this.player.playing) return;
    this.rest = setTimeout(() => this.draw(true), 300);
  }

  /** Axes turn with the view; legends are drawn again only when they tell something else. */
  drawLegend() {
    const { inks, legends, camera, scene } = this;
    drawAxes(cleared(element("axes"), AXES, AXES), AXES / 2, AXES / 2, camera, inks);
    const canvas = element("legend");
    const width = scene.canvas.clientWidth;
    const told = JSON.stringify([legends, inks, width, devicePixelRatio]);
    if (canvas.dataset.told === told) return;
    canvas.dataset.told = told;
    const height = drawLegends(cleared(canvas, 1, 1), width, 0, legends, inks);
    drawLegends(cleared(canvas, Math.min(320, width), height), width, height, legends, inks);
    canvas.setAttribute("aria-label", legendText(legends));
  }

  themeChanged() {
    const style = getComputedStyle(document.documentElement);
    const text = (name) => style.getPropertyValue(name).trim();
    const colour = (name) => parts(text(name).slice(1)).map((v) => v / 255);
    this.inks = { ink: text("--ink"), paper: text("--stage") };
    const background = colour("--stage");
    const faded = background.map((v, k) => 0.84 * v + 0.16 * colour("--ink")[k]);
    this.scene.theme = { background, faded, wall: colour("--wall"), edge: colour("--edge"), mark: colour("--mark") };
    this.plots?.draw();
    if (this.settings.contacts) this.refresh();
    else this.requestDraw();
  }

  timeText() {
    if (!this.frame) return "–";
    const { frames } = this.index;
    return `t = ${this.frame.time.toFixed(decimals(frames))} s · ${this.shownNumber + 1}/${frames.length}`;
  }

  view(name) {
    this.camera.view(name);
    this.fit();
  }

  fit() {
    if (this.bounds) this.camera.fit(this.outline);
    this.requestDraw();
  }

  orthographic(on) {
    this.camera.orthographic = on;
    this.interface.follow();
    this.requestDraw();
  }

  /** A cut at a share of the way through the scene. */
  clipFraction(axis, share, flip) {
    if (!axis || !this.bounds) return this.cut(null);
    const k = "xyz".indexOf(axis);
    const { low, high } = this.bounds;
    return this.cut({ axis, at: low[k] + share * (high[k] - low[k]), flip });
  }

  clipShare() {
    const { axis, at } = this.settings.clip;
    const k = "xyz".indexOf(axis);
    const { low, high } = this.bounds;
    return (at - low[k]) / (high[k] - low[k] || 1);
  }

  cut(clip) {
    if (clip && !["x", "y", "z"].includes(clip.axis)) throw new Error(`there is no axis “${clip.axis}”; there are x, y, z`);
    this.settings.clip = clip && { flip: false, ...clip };
    this.applyClip();
    this.interface.follow();
    this.requestDraw();
  }

  applyClip() {
    const { clip } = this.settings;
    const sign = clip?.flip ? -1 : 1;
    this.scene.clip = clip ? [...["x", "y", "z"].map((axis) => (axis === clip.axis ? sign : 0)), -sign * clip.at] : NO_CLIP;
  }

  /** A place of the picture in pixels of the page, as -1 to 1 each way. */
  placeAt(x, y) {
    const { clientWidth, clientHeight } = this.scene.canvas;
    return [(2 * x) / clientWidth - 1, 1 - (2 * y) / clientHeight];
  }

  /** Picks the grain under a pixel; `more` adds it to those picked. */
  async pick(x, y, more = false) {
    const { frame } = this;
    if (!frame) return null;
    const row = pickGrain(this.grains, this.camera, this.scene, ...this.placeAt(x, y));
    if (row < 0) {
      this.unpick();
      return null;
    }
    const id = (await frame.column("grains", "id"))[row];
    this.picked = more ? [...this.picked.filter((other) => other !== id), id] : [id];
    await this.card.show(id);
    await this.repick();
    const [px, py, pz, radius] = this.grains.subarray(4 * row, 4 * row + 4);
    return { id, row, position: [px, py, pz], radius };
  }

  unpick() {
    this.picked = [];
    this.card.hide();
    this.repick();
  }

  async repick() {
    if (this.settings.trails) return this.refresh();
    if (this.frame) this.scene.setRings(await ringsOf(this.frame, this.picked, this.grains));
    this.requestDraw();
  }
}

/** Centre and radius of each grain, four numbers in a row. */
async function packed(frame) {
  const [position, radius] = [await frame.column("grains", "position"), await frame.column("grains", "radius")];
  if (!position || !radius) throw new Error("it holds no positions or no radii");
  const grains = new Float32Array(4 * frame.rows);
  for (let row = 0; row < frame.rows; row++) {
    grains[4 * row] = position[3 * row];
    grains[4 * row + 1] = position[3 * row + 1];
    grains[4 * row + 2] = position[3 * row + 2];
    grains[4 * row + 3] = radius[row];
  }
  return grains;
}

/** Those of them that are picked. */
async function ringsOf(frame, picked, grains) {
  const rows = await Promise.all(picked.map((id) => frame.rowOf(id)));
  return Float32Array.from(rows.filter((row) => row >= 0).flatMap((row) => [...grains.subarray(4 * row, 4 * row + 4)]));
}

/** Speed, if there is one; else the first field that changes from grain to grain. */
function firstColour(fields) {
  const offered = fields.filter(({ name, part }) => name !== "id" && (part === null || part === "size"));
  return (fields.find(({ name }) => name === "|velocity|") ?? offered.at(-1))?.name ?? "";
}

/** Angle of each disc in its plane. */
function spins(orientation) {
  const angles = new Float32Array(orientation.length / 4);
  for (let row = 0; row < angles.length; row++) angles[row] = 2 * Math.atan2(orientation[4 * row + 2], orientation[4 * row + 3]);
  return angles;
}

/** The box around grains and walls. */
function boundsOf(grains, corners) {
  const [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
  for (let c = 0; c < 3; c++) {
    for (let at = 0; at < grains.length; at += 4) {
      low[c] = Math.min(low[c], grains[at + c] - grains[at + 3]);
      high[c] = Math.max(high[c], grains[at + c] + grains[at + 3]);
    }
    for (let at = c; at < corners.length; at += 3) {
      low[c] = Math.min(low[c], corners[at]);
      high[c] = Math.max(high[c], corners[at]);
    }
  }
  return low[0] <= high[0] ? { low, high } : { low: [-1, -1, -1], high: [1, 1, 1] };
}

/** Places that tell how far the scene reaches, each with a radius: corners of walls and up to some thousand grains. */
function outlineOf(grains, corners) {
  const points = [];
  const stride = Math.ceil(grains.length / 4 / 5000);
  for (let at = 0; at < grains.length; at += 4 * stride) points.push(grains.subarray(at, at + 4));
  for (let at = 0; at < corners.length; at += 3) points.push([corners[at], corners[at + 1], corners[at + 2], 0]);
  return points;
}

/** Digits that tell times of frames apart. */
function decimals(frames) {
  if (frames.length < 2) return 4;
  const step = (frames.at(-1).time - frames[0].time) / (frames.length - 1);
  return step > 0 ? clamp(1 - Math.floor(Math.log10(step)), 0, 12) : 4;
}
