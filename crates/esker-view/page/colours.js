// Colour maps by a few points each, evenly spaced from low to high; between them straight lines.

const MAPS = {
  viridis: ["440154", "482878", "3e4a89", "31688e", "26838e", "1f9e89", "35b779", "6dce59", "b5de2b", "fde725"],
  cividis: ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8779", "a69d75", "c4b56c", "e4cf5b", "fee838"],
  magma: ["0b0924", "221150", "4a1079", "721f81", "9a2d80", "c43c75", "ea5661", "fb8861", "febb80", "fcfdbf"],
  diverging: ["1f4e9c", "3f7cc4", "7fabdd", "bdd3ec", "efefec", "f2c9b3", "e39470", "c75a3e", "9c1f28"],
};

/** Told apart also by those who see no difference between red and green. */
const PALETTE = ["0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "b8a800", "7a5195", "3a3a3a", "a6761d"];

const PLAIN = [0.42, 0.6, 0.78];
const LINE_COLOURS = [
  "#3b82c4", "#d9822b", "#2a9d6f", "#c0588f", "#8a6fd1", "#b0453a",
  "#7d8b2f", "#2aa5b5", "#8c6d4f", "#6b7280", "#e0a93b", "#4f5fb0",
];

const parts = (hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** The colour of a map at 0 to 1, as numbers up to 255. */
function colourAt(name, t) {
  const points = MAPS[name];
  const place = clamp(t, 0, 1) * (points.length - 1);
  const k = Math.min(Math.floor(place), points.length - 2);
  const [a, b] = [parts(points[k]), parts(points[k + 1])];
  return a.map((value, c) => Math.round(value + (b[c] - value) * (place - k)));
}

/** 256 colours for a texture: a map, or the palette over and over. */
function colourTable(name, categorical, flip = false) {
  const table = new Uint8Array(256 * 4);
  for (let k = 0; k < 256; k++) {
    const colour = categorical ? parts(PALETTE[k % PALETTE.length]) : colourAt(name, flip ? 1 - k / 255 : k / 255);
    table.set([...colour, 255], 4 * k);
  }
  return table;
}

const css = (colour) => `rgb(${colour.join(" ")})`;
const paletteColour = (k) => `#${PALETTE[k % PALETTE.length]}`;

/** The range a field is coloured over: typed numbers stay, the rest follows the frame. */
function colourRange(values, typed, map) {
  let [low, high] = range(values);
  if (map === "diverging" && low < 0 && high > 0) {
    high = Math.max(-low, high);
    low = -high;
  }
  low = typed.low ?? low;
  high = typed.high ?? high;
  return low === high ? [low, low + (Math.abs(low) || 1)] : [low, high];
}
