// Where picked grains have been.

const LONGEST_TRAIL = 200;

class Trails {
  constructor(viewer) {
    this.viewer = viewer;
    this.forget();
  }

  forget() {
    /** Places by number of frame and id. */
    this.places = new Map();
  }

  async place(id, number) {
    const key = `${number} ${id}`;
    if (!this.places.has(key)) {
      const frame = await this.viewer.loadFrame(number);
      const row = await frame.rowOf(id);
      const position = await frame.column("grains", "position");
      this.places.set(key, row < 0 ? null : Array.from(position.subarray(3 * row, 3 * row + 3)));
    }
    return this.places.get(key);
  }

  /** Lines up to a frame; a jump across a periodic face is no line. */
  async lines(ids, number, longest) {
    const lines = [];
    for (const id of ids) {
      let last = null;
      for (let n = Math.max(0, number - LONGEST_TRAIL); n <= number; n++) {
        const place = await this.place(id, n);
        if (last && place && size(subtract(place, last)) < longest) lines.push(...last, ...place);
        last = place;
      }
    }
    return new Float32Array(lines);
  }
}
