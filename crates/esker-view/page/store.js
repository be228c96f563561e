// Blocks of `frames.esk`. A block is fetched whole; its columns are unpacked when something asks for them.

const PREFIX = 20;
const CACHE_BYTES = 300e6;

const ONE_HALF = halfFloats();

/** All 65 536 half floats: a table is quicker than taking bits apart a million times. */
function halfFloats() {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) table[bits] = sign * fraction * 2 ** -24;
    else if (exponent === 31) table[bits] = fraction ? NaN : sign * Infinity;
    else table[bits] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return table;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const BYTES_OF = { single: 4, half: 2 };

/** The numbers of a column, one row after another. Whole numbers keep all their digits. */
async function decodeColumn(coded, rows, compressed) {
  const width = Math.max(coded.components.length, 1);
  const bytes = BYTES_OF[coded.code] ?? coded.bytes;
  if (!(bytes >= 1 && bytes <= 4)) throw new Error(`the column “${coded.name}” has numbers of ${bytes} bytes`);
  let planes;
  try {
    planes = await inflated(compressed);
  } catch {
    throw new Error(`the column “${coded.name}” cannot be unpacked`);
  }
  if (planes.length !== rows * width * bytes) {
    throw new Error(`the column “${coded.name}” has ${planes.length} bytes where ${rows * width * bytes} were expected`);
  }
  const values = coded.code === "whole" ? new Float64Array(rows * width) : new Float32Array(rows * width);
  const integers = new Uint32Array(rows);
  for (let component = 0; component < width; component++) {
    // The bytes of equal rank of all rows stand together.
    integers.fill(0);
    for (let byte = 0; byte < bytes; byte++) {
      const plane = (component * bytes + byte) * rows;
      const shift = 8 * byte;
      for (let row = 0; row < rows; row++) integers[row] |= planes[plane + row] << shift;
    }
    spread(coded, integers, values, component, width);
  }
  return values;
}

/** Turns the integers of a component into its values. */
function spread(coded, integers, values, component, width) {
  const rows = integers.length;
  switch (coded.code) {
    case "single": {
      const floats = new Float32Array(integers.buffer);
      for (let row = 0; row < rows; row++) values[row * width + component] = floats[row];
      break;
    }
    case "half":
      for (let row = 0; row < rows; row++) values[row * width + component] = ONE_HALF[integers[row]] * coded.scale;
      break;
    case "step": {
      const origin = coded.origin[component];
      for (let row = 0; row < rows; row++) values[row * width + component] = origin + integers[row] * coded.step;
      break;
    }
    case "whole": {
      let sum = 0;
      for (let row = 0; row < rows; row++) {
        sum = coded.delta ? sum + integers[row] : integers[row];
        values[row * width + component] = coded.least + sum;
      }
      break;
    }
    default:
      throw new Error(`the column “${coded.name}” has the code “${coded.code}”, which this page does not know`);
  }
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
  return sum;
});

/** CRC-32: deflate itself does not notice a flipped bit. */
function checksum(bytes) {
  let sum = -1;
  for (let k = 0; k < bytes.length; k++) sum = CRC_TABLE[(sum ^ bytes[k]) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

class Block {
  constructor(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < PREFIX || new TextDecoder().decode(bytes.subarray(0, 4)) !== "ESKF") {
      throw new Error("no block of frames where one should begin");
    }
    if (checksum(bytes.subarray(PREFIX)) !== view.getUint32(16, true)) throw new Error("frames.esk is damaged: a checksum does not fit");
    const begin = PREFIX + view.getUint32(4, true);
    this.head = JSON.parse(new TextDecoder().decode(bytes.subarray(PREFIX, begin)));
    this.body = bytes.subarray(begin);
    this.columns = new Map();
    this.bytes = bytes.length;
  }

  /** The values of a column, unpacked once. */
  column(coded, rows) {
    let values = this.columns.get(coded.at);
    if (!values) {
      const compressed = this.body.subarray(coded.at, coded.at + coded.length);
      values = decodeColumn(coded, rows, compressed).then((numbers) => {
        this.bytes += numbers.byteLength;
        return numbers;
      });
      this.columns.set(coded.at, values);
      values.catch(() => this.columns.delete(coded.at));
    }
    return values;
  }
}

/** Blocks by where they begin; those unused for longest are dropped. */
class Store {
  constructor(source) {
    this.source = source;
    this.blocks = new Map();
  }

  async block(at, length, kind) {
    const entry = this.blocks.get(at) ?? { loading: this.source.bytes(at, length), block: null };
    // Put last again: the map is in the order of use.
    this.blocks.delete(at);
    this.blocks.set(at, entry);
    try {
      entry.block ??= new Block(await entry.loading);
    } catch (error) {
      this.blocks.delete(at);
      throw error;
    }
    entry.loading = null;
    if (entry.block.head.block !== kind) throw new Error(`a block “${kind}” was expected at byte ${at}`);
    this.trim();
    return entry.block;
  }

  async frame(info, blocks) {
    const [own, grains, walls] = await Promise.all([
      this.block(info.at, info.length, "frame"),
      this.block(info.grains, blocks[info.grains], "grains"),
      this.block(info.walls, blocks[info.walls], "walls"),
    ]);
    return new Frame(own, grains, walls);
  }

  /** Only the head of a frame, for loads of walls over time. */
  async head(info) {
    const known = this.blocks.get(info.at)?.block;
    if (known) return known.head;
    let bytes = await this.source.bytes(info.at, Math.min(info.length, 8192));
    const wanted = PREFIX + new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
    if (wanted > bytes.length) bytes = await this.source.bytes(info.at, wanted);
    return JSON.parse(new TextDecoder().decode(bytes.subarray(PREFIX, wanted)));
  }

  trim() {
    let total = 0;
    for (const { block } of this.blocks.values()) total += block?.bytes ?? 0;
    // The last few are those being shown.
    for (const [at, { block }] of [...this.blocks].slice(0, -6)) {
      if (total <= CACHE_BYTES) break;
      this.blocks.delete(at);
      total -= block?.bytes ?? 0;
    }
  }

  forget() {
    this.blocks.clear();
  }
}
