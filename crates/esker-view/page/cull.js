// Leaves out grains that are hidden behind others, before they reach the card. In a deep packing nine of ten are, and where
// a processor does the drawing that is most of the time. Never leaves out one that would be seen.

/** Outlines off the axis of a perspective view are longer than those on it, by less than this. */
const STRETCH = 1.16;
/** This part of the radius is hidden behind a grain whatever the perspective. */
const SAFE = 0.96;
/** Cells of the grid over a typical radius. */
const CELL = 0.4;

class Culler {
  constructor() {
    this.rows = new Uint32Array(0);
    this.places = new Float32Array(0);
    this.cells = new Float32Array(0);
  }

  /** Numbers of the grains that may be seen, the first `count` of `rows`. `radius` is a typical one on the screen [px]. */
  visible(grains, { view, projection, perspective, clip, grow, width, height, radius }) {
    const total = grains.length / 4;
    if (this.rows.length < total) {
      this.rows = new Uint32Array(total);
      this.places = new Float32Array(4 * total);
    }
    const { rows, places } = this;
    // A sphere of this radius covers some whole cells.
    const cell = Math.max(radius * CELL, 1);
    const [across, down] = [Math.ceil(width / cell), Math.ceil(height / cell)];
    if (this.cells.length < across * down) this.cells = new Float32Array(across * down);
    const cells = this.cells.fill(Infinity);
    const [sx, sy] = [(projection[0] * width) / 2 / cell, (projection[5] * height) / 2 / cell];
    const [mx, my] = [width / 2 / cell, height / 2 / cell];

    // What lies in the picture: place and radius in cells, depth; and the cells it hides from its centre on.
    let inside = 0;
    for (let row = 0; row < total; row++) {
      const [x, y, z, r] = [grains[4 * row], grains[4 * row + 1], grains[4 * row + 2], grains[4 * row + 3] * grow];
      const over = clip[0] * x + clip[1] * y + clip[2] * z + clip[3];
      if (over > r) continue;
      const depth = -(view[2] * x + view[6] * y + view[10] * z + view[14]);
      const scale = perspective ? 1 / depth : 1;
      const px = mx + (view[0] * x + view[4] * y + view[8] * z + view[12]) * sx * scale;
      const py = my + (view[1] * x + view[5] * y + view[9] * z + view[13]) * sy * scale;
      const reach = r * sy * scale;
      const near = perspective && depth < 4 * r;
      const wide = reach * STRETCH;
      const outside = px + wide < 0 || py + wide < 0 || px - wide > across || py - wide > down;
      if (depth + r < 0 || (outside && !near)) continue;
      rows[inside] = row;
      places[4 * inside] = px;
      places[4 * inside + 1] = py;
      // Close to the eye outlines grow without bounds: such a grain is always drawn.
      places[4 * inside + 2] = near ? Infinity : wide;
      places[4 * inside + 3] = depth - r;
      inside++;
      if (near || over > -r) continue;
      const safe = reach * SAFE;
      const [top, bottom] = [Math.max(Math.ceil(py - safe), 0), Math.min(Math.floor(py + safe), down)];
      for (let j = top; j < bottom; j++) {
        const off = Math.max(py - j, j + 1 - py);
        if (off >= safe) continue;
        const half = Math.sqrt(safe * safe - off * off);
        const [left, right] = [Math.max(Math.ceil(px - half), 0), Math.min(Math.floor(px + half), across)];
        for (let i = j * across + left; i < j * across + right; i++) if (depth < cells[i]) cells[i] = depth;
      }
    }

    // A grain is seen if any cell it touches is not hidden before its nearest point.
    let count = 0;
    for (let k = 0; k < inside; k++) {
      const reach = places[4 * k + 2];
      const [x, y, front] = [places[4 * k], places[4 * k + 1], places[4 * k + 3]];
      if (reach === Infinity || this.open(x, y, reach, front, across, down)) rows[count++] = rows[k];
    }
    return { rows, count };
  }

  open(x, y, reach, front, across, down) {
    const [left, right] = [Math.max(Math.floor(x - reach), 0), Math.min(Math.floor(x + reach), across - 1)];
    const [top, bottom] = [Math.max(Math.floor(y - reach), 0), Math.min(Math.floor(y + reach), down - 1)];
    for (let j = top; j <= bottom; j++) {
      for (let i = left; i <= right; i++) if (this.cells[j * across + i] > front) return true;
    }
    return false;
  }
}
