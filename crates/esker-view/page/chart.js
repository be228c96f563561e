// Axes, lines, areas and bars on a small canvas.

const MARGIN = { left: 62, right: 12, top: 10, bottom: 36 };

/**
 * Draws a chart and returns how places on it become numbers.
 * `items` are `{kind: "line" | "area" | "bars", x, y, base, colour}`; `base` is the lower edge of an area.
 */
function drawChart(canvas, { items, xLabel, yLabel, xRange, logY = false, cursor = null }) {
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  ctx.font = "11px system-ui, sans-serif";
  const style = getComputedStyle(canvas);
  const [ink, grid] = [style.getPropertyValue("--ink"), style.getPropertyValue("--line")];

  const box = {
    left: MARGIN.left,
    top: MARGIN.top,
    width: Math.max(width - MARGIN.left - MARGIN.right, 10),
    height: Math.max(height - MARGIN.top - MARGIN.bottom, 10),
  };
  const [x0, x1] = widened(xRange ?? span(items.map((item) => item.x)));
  const [y0, y1] = yExtent(items, logY);
  const level = logY ? Math.log10 : (v) => v;
  const xAt = (v) => box.left + ((v - x0) / (x1 - x0)) * box.width;
  const yAt = (v) => box.top + box.height - ((level(v) - level(y0)) / (level(y1) - level(y0))) * box.height;

  drawGrid(ctx, box, { x0, x1, y0, y1, xAt, yAt, logY, ink, grid });
  ctx.fillStyle = ink;
  ctx.textAlign = "center";
  ctx.fillText(xLabel, box.left + box.width / 2, height - 6);
  ctx.save();
  ctx.translate(11, box.top + box.height / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(yLabel, 0, 0);
  ctx.restore();

  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top, box.width, box.height);
  ctx.clip();
  for (const item of items) drawItem(ctx, item, { xAt, yAt, y0, box });
  if (cursor !== null) {
    ctx.strokeStyle = ink;
    ctx.lineWidth = 1;
    ctx.setLineDash([4, 3]);
    ctx.beginPath();
    ctx.moveTo(xAt(cursor), box.top);
    ctx.lineTo(xAt(cursor), box.top + box.height);
    ctx.stroke();
  }
  ctx.restore();
  return { xOf: (pixel) => x0 + ((pixel - box.left) / box.width) * (x1 - x0) };
}

function span(arrays) {
  const ends = arrays.filter((values) => values.length).flatMap((values) => range(values));
  return ends.length ? range(ends) : [0, 1];
}

const widened = ([low, high]) => (low < high ? [low, high] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2]);

function yExtent(items, logY) {
  if (logY) {
    const positive = items.flatMap(({ y }) => Array.from(y).filter((v) => v > 0));
    const [low, high] = range(positive);
    return [10 ** Math.floor(Math.log10(low) - 0.01), 10 ** Math.ceil(Math.log10(high) + 0.01)];
  }
  const fromZero = items.some((item) => item.kind !== "line");
  const [low, high] = widened(span([...items.map((item) => item.y), ...(fromZero ? [[0]] : [])]));
  const room = (high - low) * 0.05;
  return [fromZero && low === 0 ? 0 : low - room, high + room];
}

function drawGrid(ctx, box, { x0, x1, y0, y1, xAt, yAt, logY, ink, grid }) {
  ctx.strokeStyle = grid;
  ctx.fillStyle = ink;
  ctx.lineWidth = 1;
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  for (const v of ticks(x0, x1, box.width / 80)) {
    const x = Math.round(xAt(v)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(x, box.top);
    ctx.lineTo(x, box.top + box.height);
    ctx.stroke();
    ctx.fillText(shown(v), x, box.top + box.height + 14);
  }
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  const decades = () => ticks(Math.log10(y0), Math.log10(y1), Math.min(box.height / 24, 6)).filter(Number.isInteger).map((e) => 10 ** e);
  for (const v of logY ? decades() : ticks(y0, y1, box.height / 32)) {
    const y = Math.round(yAt(v)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(box.left, y);
    ctx.lineTo(box.left + box.width, y);
    ctx.stroke();
    ctx.fillText(shown(v), box.left - 5, y);
  }
  ctx.textBaseline = "alphabetic";
}

function drawItem(ctx, item, { xAt, yAt, y0, box }) {
  const { kind, x, y, base, colour } = item;
  ctx.fillStyle = colour;
  ctx.strokeStyle = colour;
  if (kind === "bars") {
    const floor = box.top + box.height;
    for (let k = 0; k < y.length; k++) {
      if (!(y[k] > 0)) continue;
      const [left, right, top] = [xAt(x[k]), xAt(x[k + 1]), yAt(Math.max(y[k], y0))];
      ctx.fillRect(left + 0.5, top, Math.max(right - left - 1, 0.5), floor - top);
    }
    return;
  }
  const rows = thinned(y, box.width);
  ctx.beginPath();
  for (const row of rows) ctx.lineTo(xAt(x[row]), yAt(y[row]));
  if (kind === "area") {
    for (const row of rows.reverse()) ctx.lineTo(xAt(x[row]), yAt(base[row]));
    ctx.globalAlpha = 0.75;
    ctx.fill();
    ctx.globalAlpha = 1;
    return;
  }
  ctx.lineWidth = 1.6;
  ctx.lineJoin = "round";
  ctx.stroke();
}

/** Rows to draw: of many only the lowest and the highest in each stretch, so that no peak is lost. */
function thinned(y, width) {
  const rows = [];
  const stretch = Math.ceil(y.length / (2 * width));
  for (let from = 0; from < y.length; from += stretch) {
    let [low, high] = [from, from];
    for (let k = from; k < Math.min(from + stretch, y.length); k++) {
      if (y[k] < y[low]) low = k;
      if (y[k] > y[high]) high = k;
    }
    for (const row of low === high ? [low] : [Math.min(low, high), Math.max(low, high)]) {
      if (Number.isFinite(y[row])) rows.push(row);
    }
  }
  return rows;
}

/** A bin for each number where there are few different ones, else some that are neither empty nor blunt. */
function binsFor(values) {
  const different = new Set();
  for (let k = 0; k < values.length && different.size <= 40; k++) different.add(values[k]);
  const few = different.size <= 40 && values.length > 4 * different.size;
  return few ? different.size : clamp(Math.round(Math.sqrt(values.length)), 8, 60);
}

/** Counts in bins of equal width. */
function binned(values, bins) {
  const [low, high] = widened(range(values));
  const counts = new Float64Array(bins);
  const edges = Float64Array.from({ length: bins + 1 }, (_, k) => low + ((high - low) * k) / bins);
  for (let k = 0; k < values.length; k++) {
    if (Number.isFinite(values[k])) counts[Math.min(Math.floor(((values[k] - low) / (high - low)) * bins), bins - 1)]++;
  }
  return { edges, counts };
}
