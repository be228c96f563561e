// `series.csv`: numbers of the whole run over time.

const TIME = "time [s]";

/** Columns by name, or nothing if the text holds no table over time. */
function readSeries(text) {
  if (!text) return null;
  // What follows the last end of line is still being written.
  const lines = text.split(/\r?\n/).slice(0, -1);
  if (!lines.length) return null;
  const names = cellsOf(lines[0]);
  if (!names.includes(TIME) || lines.length < 2) return null;
  const columns = names.map(() => new Float64Array(lines.length - 1));
  lines.slice(1).forEach((line, row) => {
    const cells = line.split(",");
    columns.forEach((column, k) => (column[row] = cells[k] === undefined || cells[k] === "" ? NaN : Number(cells[k])));
  });
  const byName = new Map(names.map((name, k) => [name, columns[k]]));
  return { names: names.filter((name) => name !== TIME), time: byName.get(TIME), get: (name) => byName.get(name) };
}

/** The cells of a line; in quotes, commas are letters and two quotes are one. */
function cellsOf(line) {
  const cells = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...cells].map(([, quoted, plain]) => (quoted === undefined ? plain : quoted.replaceAll('""', '"')));
}

/** Name and unit of a heading such as `potential [J]`. */
function heading(text) {
  const found = /^(.*?)\s*\[([^\]]*)\]$/.exec(text);
  return found ? { name: found[1], unit: found[2] } : { name: text, unit: "" };
}

/** The row whose time is nearest; times never fall. */
function nearest(sorted, time) {
  let [low, high] = [0, sorted.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= time) low = middle;
    else high = middle;
  }
  return Math.abs(sorted[low] - time) <= Math.abs(sorted[high] - time) ? low : high;
}
