// What can be shown of a frame. Fields come from the columns that are there; nothing here knows their names, except those
// that the picture itself is made of: position, radius, id, orientation.

/** Columns of contacts that say which grains meet, not how. */
const STRUCTURE = new Set(["first", "beyond", "wall", "branch"]);
const LAYER = "layer of origin";
const LAYERS = 10;

/** Whether the length of a vector tells something. */
const hasSize = (name, components) => components.length > 1 && name !== "position" && name !== "orientation";

/** The numbers that columns offer: themselves, or the size and the components of a vector. */
function describe(columns, head) {
  const names = { material: head.materials, kind: head.kinds };
  return columns.flatMap(({ name, unit: unitName, components, code }) => {
    const field = { column: name, unit: unitName };
    if (!components.length) {
      return [{ ...field, name, part: null, names: code === "whole" ? (names[name] ?? null) : null }];
    }
    const parts = components.map((component, part) => ({ ...field, name: `${name} ${component}`, part, names: null }));
    return hasSize(name, components) ? [{ ...field, name: `|${name}|`, part: "size", names: null }, ...parts] : parts;
  });
}

/** One number for each row of a column. */
function reduce(values, rows, part) {
  if (part === null) return values;
  const width = rows ? values.length / rows : 1;
  const numbers = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    const from = row * width;
    if (part !== "size") {
      numbers[row] = values[from + part];
      continue;
    }
    let sum = 0;
    for (let k = 0; k < width; k++) sum += values[from + k] ** 2;
    numbers[row] = Math.sqrt(sum);
  }
  return numbers;
}

class Frame {
  constructor(own, grains, walls) {
    this.own = own;
    this.grains = grains;
    this.walls = walls;
    this.rows = own.head.tables.grains.rows;
    if (grains.head.table.rows !== this.rows) throw new Error("the grains of a frame are not those of the block it names");
  }

  get time() {
    return this.own.head.time;
  }

  get parts() {
    return this.own.head.parts;
  }

  get contacts() {
    const { pairs, ends } = this.own.head.tables;
    return (pairs?.rows ?? 0) + (ends?.rows ?? 0);
  }

  get hasContacts() {
    return this.own.head.tables.pairs !== undefined;
  }

  /** Block and head of each column of a table. */
  places(table) {
    const of = (block, head) => (head?.columns ?? []).map((coded) => ({ block, coded, rows: head.rows }));
    if (table === "grains") return [...of(this.grains, this.grains.head.table), ...of(this.own, this.own.head.tables.grains)];
    return of(this.own, this.own.head.tables[table]);
  }

  columns(table) {
    return this.places(table).map((place) => place.coded);
  }

  /** The numbers of a column, or nothing if there is no such column. */
  async column(table, name) {
    const place = this.places(table).find(({ coded }) => coded.name === name);
    return place ? place.block.column(place.coded, place.rows) : null;
  }

  grainFields(head) {
    return describe(this.columns("grains"), head);
  }

  contactFields(head) {
    const seen = new Map();
    for (const coded of [...this.columns("pairs"), ...this.columns("ends")]) {
      if (!STRUCTURE.has(coded.name)) seen.set(coded.name, coded);
    }
    return describe([...seen.values()], head);
  }

  async grainValues(field) {
    const values = await this.column("grains", field.column);
    return values && reduce(values, this.rows, field.part);
  }

  /** Pairs first, then contacts with walls and across periodic faces. */
  async contactValues(field) {
    const all = new Float32Array(this.contacts).fill(NaN);
    let from = 0;
    for (const table of ["pairs", "ends"]) {
      const rows = this.own.head.tables[table]?.rows ?? 0;
      const values = await this.column(table, field.column);
      if (values) all.set(reduce(values, rows, field.part), from);
      from += rows;
    }
    return all;
  }

  /** Both ends of each contact, six numbers in a row, in the order of `contactValues`. */
  async contactLines() {
    const position = await this.column("grains", "position");
    const [first, beyond] = [await this.column("pairs", "first"), await this.column("pairs", "beyond")];
    const [from, branch] = [await this.column("ends", "first"), await this.column("ends", "branch")];
    const lines = new Float32Array(6 * this.contacts);
    const pairs = first?.length ?? 0;
    for (let k = 0; k < pairs; k++) {
      const a = 3 * first[k];
      const b = 3 * (first[k] + beyond[k]);
      for (let c = 0; c < 3; c++) {
        lines[6 * k + c] = position[a + c];
        lines[6 * k + 3 + c] = position[b + c];
      }
    }
    for (let k = 0; k < (from?.length ?? 0); k++) {
      const at = 6 * (pairs + k);
      for (let c = 0; c < 3; c++) {
        lines[at + c] = position[3 * from[k] + c];
        lines[at + 3 + c] = lines[at + c] + branch[3 * k + c];
      }
    }
    return lines;
  }

  /** The row of a grain, or -1: rows are sorted by id. */
  async rowOf(id) {
    const ids = await this.column("grains", "id");
    let [low, high] = [0, ids.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ids[middle] < id) low = middle + 1;
      else high = middle;
    }
    return ids[low] === id ? low : -1;
  }
}

/** Bands of height in the first frame; who came later has none. */
class Layers {
  constructor(first, up) {
    this.first = first;
    this.up = up;
    this.bands = null;
  }

  async of(frame) {
    this.bands ??= await this.find();
    const ids = await frame.column("grains", "id");
    const values = new Float32Array(ids.length);
    for (let row = 0; row < ids.length; row++) values[row] = this.bands.get(ids[row]) ?? NaN;
    return values;
  }

  async find() {
    const [ids, position] = [await this.first.column("grains", "id"), await this.first.column("grains", "position")];
    const heights = Float64Array.from(ids, (_, row) => dot(this.up, position.subarray(3 * row, 3 * row + 3)));
    const [low, high] = range(heights);
    const band = (height) => Math.min(Math.floor(((height - low) / (high - low || 1)) * LAYERS), LAYERS - 1);
    return new Map(Array.from(ids, (id, row) => [id, band(heights[row])]));
  }
}
