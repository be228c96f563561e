// The picture. Grains first, with depth; then walls, which hide nothing; then lines over everything.

/** Below this radius on the screen grains are drawn as points [px]. */
const POINT_RADIUS = 1.5;
/** Below this one they are drawn in a quicker way [px]. */
const BEAD_RADIUS = 12;
/** Drawing slower than the first makes do with less, faster than the second tries more [ms]. */
const SPEED_LIMITS = [90, 15];
/** Samples a pixel for smooth edges. */
const FINE = 4;
/** Of more grains than this those that are hidden are left out, until drawing proves fast. */
const MANY = 20000;
const TEXTURE_WIDTH = 2048;
const SAMPLERS = ["map", "grains", "values", "lines"];
const NO_CLIP = [0, 0, 0, -1];

class Scene {
  constructor(canvas, planar) {
    this.canvas = canvas;
    this.planar = planar;
    const gl = canvas.getContext("webgl2", { antialias: false, depth: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("this browser offers no WebGL2, which the view needs");
    this.gl = gl;
    this.programs = Object.fromEntries(Object.entries(SHADERS).map(([name, text]) => [name, program(gl, text)]));
    for (const name of ["grains", "contacts", "arrows", "edges", "trails", "rings"]) this[name] = { data: this.texture(), count: 0 };
    this.values = this.texture();
    this.walls = this.triangles();
    this.order = gl.createBuffer();
    this.ordered = 0;
    this.culler = new Culler();
    this.maps = { grains: this.texture(), contacts: this.texture() };
    this.targets = new Map();
    this.samples = 0;
    this.culling = true;
    this.look = { dim: 0, grow: 1, walls: true, contacts: false, arrows: false };
    this.colour = { mapped: false, span: [0, 1] };
    this.contactColour = { span: [0, 1], strength: [0, 1], width: 7 };
    this.clip = NO_CLIP;
    this.theme = { background: [1, 1, 1], faded: [1, 1, 1], wall: [0.4, 0.45, 0.5], edge: [0.2, 0.25, 0.3], mark: [0, 0, 0] };
    this.typicalRadius = 0;
    this.drawMs = 0;
    this.warm = false;
    this.tooSmooth = false;
    this.tooMany = false;
    this.cullMs = 0;
    this.marked = false;
    this.finished = Promise.resolve();
  }

  /** Corners and normals. */
  triangles() {
    const { gl } = this;
    const array = gl.createVertexArray();
    const buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    for (const place of [0, 1]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 24, 12 * place);
    }
    gl.bindVertexArray(null);
    return { array, buffer, count: 0 };
  }

  texture() {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    return texture;
  }

  paint(texture, table) {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, table);
  }

  /** Numbers by fours or twos into a texture, row by row. */
  upload(texture, numbers, width) {
    const { gl } = this;
    const rows = Math.max(1, Math.ceil(numbers.length / width / TEXTURE_WIDTH));
    const padded = new Float32Array(rows * TEXTURE_WIDTH * width);
    padded.set(numbers);
    const [inside, format] = width === 4 ? [gl.RGBA32F, gl.RGBA] : [gl.RG32F, gl.RG];
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, inside, TEXTURE_WIDTH, rows, 0, format, gl.FLOAT, padded);
  }

  /** Centre and radius of each grain, the value it is coloured by, the angle it has turned. */
  setGrains(grains, values, angles) {
    const count = grains.length / 4;
    this.centres = grains;
    const pairs = new Float32Array(2 * count);
    for (let k = 0; k < count; k++) {
      if (values) pairs[2 * k] = drawable(values[k]);
      if (angles) pairs[2 * k + 1] = angles[k];
    }
    this.upload(this.grains.data, grains, 4);
    this.upload(this.values, pairs, 2);
    this.grains.count = count;
    this.marked = angles !== null;
    const sample = [];
    for (let k = 0; k < count; k += Math.max(1, count >> 8)) sample.push(grains[4 * k + 3]);
    this.typicalRadius = sample.sort((a, b) => a - b)[sample.length >> 1] ?? 0;
  }

  /** Lines by both ends, six numbers each, and perhaps a value. */
  setLines(name, lines, values = null) {
    const count = lines.length / 6;
    const texels = new Float32Array(8 * count);
    for (let k = 0; k < count; k++) {
      for (let c = 0; c < 3; c++) {
        texels[8 * k + c] = lines[6 * k + c];
        texels[8 * k + 4 + c] = lines[6 * k + 3 + c];
      }
      if (values) texels[8 * k + 3] = drawable(values[k]);
    }
    this.upload(this[name].data, texels, 4);
    this[name].count = count;
  }

  setWalls({ faces, edges }) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.walls.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, faces, gl.DYNAMIC_DRAW);
    this.walls.count = faces.length / 6;
    this.setLines("edges", edges);
  }

  setRings(grains) {
    this.upload(this.rings.data, grains, 4);
    this.rings.count = grains.length / 4;
  }

  /** Fits the canvas to its place on the page; setting a size clears it, so only when it is another. */
  resize() {
    const { canvas } = this;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((s) => Math.max(1, Math.round(s * ratio)));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  }

  /** A picture of its own to draw to, with so many samples a pixel. */
  target(samples) {
    const { gl, canvas: { width, height } } = this;
    const known = this.targets.get(samples);
    if (known?.width === width && known.height === height) return known.frame;
    if (known) {
      gl.deleteFramebuffer(known.frame);
      known.buffers.forEach((buffer) => gl.deleteRenderbuffer(buffer));
    }
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    const formats = [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]];
    const buffers = formats.map(([format, attachment]) => {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, attachment, gl.RENDERBUFFER, buffer);
      return buffer;
    });
    this.targets.set(samples, { width, height, frame, buffers });
    return frame;
  }

  /** Draws; `fine` with smooth edges whatever it costs. Resolved when it is done. */
  draw(camera, fine = false) {
    const { gl, canvas, look } = this;
    const began = performance.now();
    this.cullMs = 0;
    camera.aspect = canvas.width / canvas.height;
    this.drawing = fine ? FINE : this.samples;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target(this.drawing));
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.colorMask(true, true, true, true);
    gl.depthMask(true);
    gl.clearColor(...this.theme.background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    // The canvas stays opaque whatever is blended into it.
    gl.colorMask(true, true, true, false);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    this.camera = { ...camera.matrices(), perspective: !camera.orthographic };
    if (look.grow > 0) this.drawGrains(camera);
    if (look.walls) this.drawWalls();
    this.drawInside();
    this.blit();
    this.finished = this.finish().then(() => {
      if (fine) return;
      this.drawMs = performance.now() - began;
      this.adapt();
    });
    return this.finished;
  }

  /** Effort follows speed; what proved too slow is not tried again. The first picture tells nothing: programs are being made. */
  adapt() {
    const ms = this.drawMs - this.cullMs;
    if (this.warm && ms > SPEED_LIMITS[0]) {
      if (this.samples) this.tooSmooth = true;
      else if (!this.culling) this.tooMany = true;
      this.samples = 0;
      this.culling = true;
    } else if (this.warm && ms < SPEED_LIMITS[1]) {
      this.culling = this.tooMany;
      this.samples = this.tooSmooth ? 0 : FINE;
    }
    this.warm = true;
  }

  /** Resolved when the card has drawn what it was told to, so that no more is asked of it than it can do. */
  async finish() {
    const { gl } = this;
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    while (fence && !gl.isContextLost() && gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) {
      await new Promise((done) => setTimeout(done, 1));
    }
    gl.deleteSync(fence);
  }

  use(name, settings) {
    const { gl } = this;
    const { made, uniforms } = this.programs[name];
    gl.useProgram(made);
    const { camera, clip, theme, canvas } = this;
    const pixels = [canvas.clientWidth, canvas.clientHeight];
    const all = { clip, pixels, faded: theme.faded, plain: PLAIN, span: [0, 1], strength: [0, 1], ...camera, ...settings };
    for (const [key, place] of Object.entries(uniforms)) {
      const value = all[key] ?? 0;
      if (key === "view" || key === "projection") gl.uniformMatrix4fv(place, false, value);
      else if (value.length === 4) gl.uniform4fv(place, value);
      else if (value.length === 3) gl.uniform3fv(place, value);
      else if (value.length === 2) gl.uniform2fv(place, value);
      else if (SAMPLERS.includes(key)) gl.uniform1i(place, SAMPLERS.indexOf(key));
      else gl.uniform1f(place, value);
    }
  }

  /** Textures of a program, in the order of its samplers. */
  bind(textures) {
    const { gl } = this;
    SAMPLERS.forEach((name, k) => {
      gl.activeTexture(gl.TEXTURE0 + k);
      gl.bindTexture(gl.TEXTURE_2D, textures[name] ?? this.maps.grains);
    });
    gl.activeTexture(gl.TEXTURE0);
  }

  drawGrains(camera) {
    const { gl, look, colour } = this;
    const { count, data } = this.grains;
    if (!count) return;
    const { height } = this.canvas;
    const radius = this.typicalRadius * look.grow * camera.pixelsPerMetre(camera.target, height);
    const settings = { ...colour, grow: look.grow, dim: look.dim, height, marked: this.marked, smoothed: this.drawing > 0 };
    this.bind({ map: this.maps.grains, grains: data, values: this.values });
    gl.disable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    if (radius < POINT_RADIUS) {
      this.use("point", settings);
      gl.drawArrays(gl.POINTS, 0, count);
    } else if (this.planar && Math.abs(camera.axes().back[2]) > 0.35) {
      // Discs are all in one plane: smooth edges by blending, no depth. Seen from the side they would vanish.
      gl.enable(gl.BLEND);
      gl.disable(gl.DEPTH_TEST);
      this.use("disc", settings);
      this.drawQuads(count);
    } else {
      if (this.drawing) gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
      // What is cut, or near, needs its true surface.
      const small = radius < BEAD_RADIUS && this.clip === NO_CLIP;
      this.use(small ? "bead" : "sphere", settings);
      if (this.culling && count > MANY) this.drawVisible(radius, small);
      else if (small) gl.drawArrays(gl.POINTS, 0, count);
      else this.drawQuads(count);
      gl.disable(gl.SAMPLE_ALPHA_TO_COVERAGE);
    }
  }

  /** Two triangles for each grain from the first; their corners are numbered once and for all. */
  drawQuads(count) {
    const { gl } = this;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.order);
    if (this.ordered < count) {
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, corners(count, (k) => k), gl.STATIC_DRAW);
      this.ordered = count;
    }
    gl.drawElements(gl.TRIANGLES, 6 * count, gl.UNSIGNED_INT, 0);
  }

  /** The same for those grains only that are not behind others. */
  drawVisible(radius, small) {
    const { gl, canvas: { width, height }, look: { grow } } = this;
    const began = performance.now();
    const { rows, count } = this.culler.visible(this.centres, { ...this.camera, clip: this.clip, grow, width, height, radius });
    this.cullMs = performance.now() - began;
    this.some ??= gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.some);
    const order = small ? rows.subarray(0, count) : corners(count, (k) => rows[k]);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, order, gl.STREAM_DRAW);
    gl.drawElements(small ? gl.POINTS : gl.TRIANGLES, order.length, gl.UNSIGNED_INT, 0);
  }

  drawWalls() {
    const { gl, theme } = this;
    gl.enable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(false);
    if (this.walls.count) {
      gl.bindVertexArray(this.walls.array);
      this.use("wall", { plain: theme.wall });
      gl.drawArrays(gl.TRIANGLES, 0, this.walls.count);
      gl.bindVertexArray(null);
    }
    const width = this.planar ? 2.5 : 1.3;
    this.drawLines(this.edges, { plain: theme.edge, widths: [width, width], opacity: this.planar ? 0.95 : 0.7 });
    gl.depthMask(true);
  }

  /** Contacts, arrows, trails and marks, which are seen through the grains. */
  drawInside() {
    const { gl, look, theme, contactColour: { span, strength, width } } = this;
    gl.enable(gl.BLEND);
    // Contacts still hide each other.
    gl.clear(gl.DEPTH_BUFFER_BIT);
    if (look.contacts) this.drawLines(this.contacts, { mapped: true, span, strength, widths: [0.12 * width, width], opacity: 1 });
    gl.disable(gl.DEPTH_TEST);
    if (look.arrows) this.drawLines(this.arrows, { plain: theme.mark, widths: [1.2, 1.2], opacity: 0.85, arrows: true });
    this.drawLines(this.trails, { plain: theme.mark, widths: [2, 2], opacity: 0.9 });
    if (this.rings.count) {
      this.bind({ grains: this.rings.data });
      this.use("ring", { plain: theme.mark, grow: Math.max(look.grow, 0.02) });
      this.drawQuads(this.rings.count);
    }
  }

  drawLines({ data, count }, settings) {
    if (!count) return;
    this.bind({ map: this.maps.contacts, lines: data });
    this.use("line", settings);
    this.gl.drawArrays(this.gl.TRIANGLES, 0, (settings.arrows ? 9 : 6) * count);
  }

  blit() {
    const { gl, canvas } = this;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.target(this.drawing));
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.colorMask(true, true, true, true);
    const all = [0, 0, canvas.width, canvas.height];
    gl.blitFramebuffer(...all, ...all, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /** The picture as it stands, first row on top. */
  pixels() {
    const { canvas } = this;
    const { width, height } = canvas;
    const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return { width, height, data: copy.getImageData(0, 0, width, height).data };
  }
}

/** Corners of the two triangles of each of so many quads. */
function corners(count, number) {
  const order = new Uint32Array(6 * count);
  for (let k = 0; k < count; k++) {
    const first = 4 * number(k);
    order[6 * k] = first;
    order[6 * k + 1] = order[6 * k + 4] = first + 1;
    order[6 * k + 2] = order[6 * k + 3] = first + 2;
    order[6 * k + 5] = first + 3;
  }
  return order;
}

/** What is no number becomes one that the shaders know as such. */
const drawable = (value) => (Number.isFinite(value) ? value : 3e38);
