// `series.csv`: numbers of the whole run over time.

const TIME = "time [s]";

/** Columns by name, or nothing if the text holds no table over time. */
function readSeries(text) {
  if (!text) return null;
  const lines = text.trimEnd().split(/\r?\n/);
  const names = lines[0].split(",").map((name) => name.trim());
  if (!names.includes(TIME) || lines.length < 2) return null;
  const columns = names.map(() => new Float64Array(lines.length - 1));
  lines.slice(1).forEach((line, row) => {
    const cells = line.split(",");
    // A line that is still being written counts as no numbers.
    columns.forEach((column, k) => (column[row] = cells[k] === undefined || cells[k] === "" ? NaN : Number(cells[k])));
  });
  const byName = new Map(names.map((name, k) => [name, columns[k]]));
  return { names: names.filter((name) => name !== TIME), time: byName.get(TIME), get: (name) => byName.get(name) };
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
