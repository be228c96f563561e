// A camera on a turntable: `yaw` about the upward direction, `pitch` above the horizon, and a target to look at.

const FIELD_OF_VIEW = 35;
const MARGIN_OF_FIT = 1.08;
const HALF = Math.tan((FIELD_OF_VIEW * Math.PI) / 360);

class Camera {
  constructor(head) {
    this.up = upward(head);
    const x = Math.abs(this.up[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    this.right = unit(subtract(x, times(this.up, dot(x, this.up))));
    this.forward = cross(this.up, this.right);
    this.target = [0, 0, 0];
    this.distance = 1;
    this.orthographic = head.planar;
    this.aspect = 1;
    this.radius = 1;
    this.centre = [0, 0, 0];
    this.view(head.planar ? "front" : "corner");
  }

  view(name) {
    const places = { front: [0, 0], side: [Math.PI / 2, 0], top: [0, Math.PI / 2], corner: [0.6, 0.42] };
    if (!places[name]) throw new Error(`there is no view “${name}”; there are ${Object.keys(places).join(", ")}`);
    [this.yaw, this.pitch] = places[name];
  }

  /** The axes of the picture in the world. */
  axes() {
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    const level = add(times(this.right, sy), times(this.forward, -cy));
    const back = add(times(level, cp), times(this.up, sp));
    const up = add(times(level, -sp), times(this.up, cp));
    return { right: cross(up, back), up, back };
  }

  eye() {
    return add(this.target, times(this.axes().back, this.distance));
  }

  /** Half the height of the picture at the target [m]. */
  get scale() {
    return this.distance * HALF;
  }

  matrices() {
    const { right, up, back } = this.axes();
    const eye = this.eye();
    const depth = dot(subtract(eye, this.centre), back);
    const far = depth + this.radius * 1.5;
    if (this.orthographic) {
      const near = depth - this.radius * 1.5;
      return { view: viewMatrix(eye, right, up, back), projection: orthographicMatrix(this.scale, this.aspect, near, far) };
    }
    const furthest = Math.max(far, this.distance * 0.1);
    const near = Math.max(depth - this.radius * 1.5, furthest * 1e-4);
    return { view: viewMatrix(eye, right, up, back), projection: perspectiveMatrix(HALF, this.aspect, near, furthest) };
  }

  orbit(dx, dy) {
    this.yaw -= dx * 0.008;
    this.pitch = clamp(this.pitch + dy * 0.008, -Math.PI / 2, Math.PI / 2);
  }

  /** Moves the target so that it follows a pointer; distances in heights of the picture. */
  pan(dx, dy) {
    const { right, up } = this.axes();
    this.target = add(this.target, add(times(right, -dx * 2 * this.scale), times(up, dy * 2 * this.scale)));
  }

  /** Nearer or further; what lies under the pointer (-1 to 1 each way) stays there. */
  zoom(factor, x = 0, y = 0) {
    const before = this.scale;
    this.distance = clamp(this.distance * factor, this.radius * 1e-4, this.radius * 100);
    const { right, up } = this.axes();
    const moved = before - this.scale;
    this.target = add(this.target, add(times(right, x * this.aspect * moved), times(up, y * moved)));
  }

  /** All places (each with a radius) come into the picture, with a margin. */
  fit(places) {
    if (!places.length) return;
    const { right, up, back } = this.axes();
    const local = places.map((p) => [dot(p, right), dot(p, up), dot(p, back), p[3]]);
    const extent = (k) => range(local.flatMap((p) => [p[k] - p[3], p[k] + p[3]]));
    let middle = [0, 1, 2].map((k) => (extent(k)[0] + extent(k)[1]) / 2);
    // In perspective the middle of the picture is not the middle of the box: a second round sets it right.
    for (let round = 0; round < 2; round++) {
      const ends = (k) => local.flatMap((p) => {
        const nearer = this.orthographic ? 1 : this.distance / Math.max(this.distance - (p[2] - middle[2]), this.distance * 0.05);
        return [-1, 1].map((side) => (p[k] - middle[k] + side * p[3]) * nearer);
      });
      if (round) middle = middle.map((m, k) => (k < 2 ? m + (range(ends(k))[0] + range(ends(k))[1]) / 2 : m));
      const reach = (p, k) => Math.abs(p[k] - middle[k]) + p[3];
      const needed = (p) => {
        const nearer = this.orthographic ? 0 : p[2] - middle[2] + p[3];
        return nearer + (MARGIN_OF_FIT * Math.max(reach(p, 0) / this.aspect, reach(p, 1))) / HALF;
      };
      this.distance = Math.max(...range(local.map(needed)), 1e-9);
    }
    // The legend stands at the lower edge; a narrow picture has no room beside it.
    const legend = this.aspect < 1 ? 0.13 : 0;
    this.distance /= 1 - legend;
    middle[1] -= legend * this.distance * HALF;
    this.target = add(add(times(right, middle[0]), times(up, middle[1])), times(back, middle[2]));
  }

  /** Where things are, for near and far. */
  bounds({ low, high }) {
    this.centre = times(add(low, high), 0.5);
    this.radius = Math.max(size(subtract(high, low)) / 2, 1e-9);
  }

  /** The ray under a place in the picture, -1 to 1 each way. */
  ray(x, y) {
    const { right, up, back } = this.axes();
    const across = add(times(right, x * this.aspect), times(up, y));
    if (this.orthographic) {
      const start = add(add(this.target, times(across, this.scale)), times(back, this.radius * 4 + this.distance));
      return { origin: start, direction: times(back, -1) };
    }
    return { origin: this.eye(), direction: unit(subtract(times(across, HALF), back)) };
  }

  /** Pixels that a metre takes at a place, in a picture so many pixels high. */
  pixelsPerMetre(place, height) {
    const depth = this.orthographic ? this.distance : dot(subtract(this.eye(), place), this.axes().back);
    return height / (2 * HALF * Math.max(depth, this.distance * 1e-3));
  }

  state() {
    const { up } = this.axes();
    const { target, orthographic, scale } = this;
    return { eye: this.eye(), target: [...target], up, fov: FIELD_OF_VIEW, orthographic, scale };
  }
}

/** Against gravity; z without it. Planar scenes stand upright whatever gravity does. */
function upward(head) {
  if (head.planar) return [0, 1, 0];
  return size(head.gravity ?? [0, 0, 0]) > 0 ? unit(times(head.gravity, -1)) : [0, 0, 1];
}
