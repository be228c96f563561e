// Legends, axes and captions over the picture, drawn the same way on the page and into saved pictures.

const FONT = "12px system-ui, sans-serif";
const BAR = { width: 190, height: 10 };
/** Room for the axes. */
const AXES = 88;

/** Everything, for pictures that leave the page. */
function drawOverlay(ctx, width, height, { inks, legends, camera, caption }) {
  drawLegends(ctx, width, height, legends, inks);
  drawAxes(ctx, width - AXES / 2, height - AXES / 2, camera, inks);
  ctx.font = "600 14px system-ui, sans-serif";
  halo(ctx, caption.title, 12, 24, inks);
  ctx.font = FONT;
  halo(ctx, caption.time, 12, 42, inks);
}

/** What colours mean, from the bottom upwards; returns the room that takes. */
function drawLegends(ctx, width, height, legends, inks) {
  ctx.font = FONT;
  let bottom = height - 12;
  for (const legend of legends) bottom -= drawLegend(ctx, 12, bottom, legend, inks, Math.min(BAR.width, width * 0.42)) + 8;
  return height - bottom;
}

/** A canvas of so many pixels of the page, empty. */
function cleared(canvas, width, height) {
  const ratio = Math.min(devicePixelRatio || 1, 2);
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  return ctx;
}

/** Text that can be read over grains. */
function halo(ctx, text, x, y, { ink, paper }) {
  ctx.lineWidth = 3;
  ctx.lineJoin = "round";
  ctx.strokeStyle = paper;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = ink;
  ctx.fillText(text, x, y);
}

function backdrop(ctx, left, bottom, width, height, { paper }) {
  ctx.globalAlpha = 0.7;
  ctx.fillStyle = paper;
  ctx.beginPath();
  ctx.roundRect(left - 6, bottom - height - 1, width + 12, height + 7, 6);
  ctx.fill();
  ctx.globalAlpha = 1;
}

/** A legend that ends at `bottom`; returns its height. */
function drawLegend(ctx, left, bottom, legend, inks, width) {
  const { ink } = inks;
  const title = withUnit(legend.title, legend.unit);
  if (legend.names) {
    const rows = legend.names.slice(0, 12);
    const widest = Math.max(...[title, ...rows.map((name) => `    ${name}`)].map((text) => ctx.measureText(text).width));
    backdrop(ctx, left, bottom, widest, rows.length * 17 + 14, inks);
    rows.forEach((name, k) => {
      const y = bottom - (rows.length - 1 - k) * 17;
      ctx.fillStyle = paletteColour(k);
      ctx.fillRect(left, y - 10, 12, 12);
      halo(ctx, name, left + 18, y, inks);
    });
    halo(ctx, title, left, bottom - rows.length * 17 - 2, inks);
    return rows.length * 17 + 20;
  }
  const { span: [low, high], map, steps, flip } = legend;
  const top = bottom - 16 - BAR.height;
  backdrop(ctx, left, bottom, Math.max(width, ctx.measureText(title).width), BAR.height + 34, inks);
  const cells = steps ?? Math.round(width);
  for (let k = 0; k < cells; k++) {
    ctx.fillStyle = css(colourAt(map, flip ? 1 - k / (cells - 1) : k / (cells - 1)));
    ctx.fillRect(left + (k * width) / cells, top, width / cells + 0.5, BAR.height);
  }
  ctx.lineWidth = 1;
  ctx.strokeStyle = ink;
  ctx.globalAlpha = 0.5;
  ctx.strokeRect(left + 0.5, top + 0.5, width - 1, BAR.height - 1);
  ctx.globalAlpha = 1;
  const marks = steps ? [[0, "bottom"], [1, "top"]] : ticks(low, high, 5).map((v) => [(v - low) / (high - low), shown(v, 3)]);
  let free = -Infinity;
  for (const [t, text] of marks) {
    const half = ctx.measureText(text).width / 2;
    const x = clamp(left + t * width, left + half, left + width - half);
    if (x - half < free) continue;
    free = x + half + 8;
    ctx.fillStyle = ink;
    ctx.fillRect(Math.round(left + t * (width - 1)), top + BAR.height, 1, 4);
    halo(ctx, text, x - half, bottom, inks);
  }
  halo(ctx, title, left, top - 6, inks);
  return BAR.height + 40;
}

/** Where x, y and z point; what points away from the eye first. */
function drawAxes(ctx, x, y, camera, inks) {
  ctx.font = FONT;
  const { right, up, back } = camera.axes();
  const arrows = [["x", "#c9413b"], ["y", "#3d9a4e"], ["z", "#3f78c9"]].map(([name, colour], k) => {
    return { name, colour, x: right[k], y: -up[k], depth: back[k] };
  });
  ctx.lineWidth = 2;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (const axis of arrows.sort((a, b) => a.depth - b.depth)) {
    if (Math.hypot(axis.x, axis.y) < 0.05) continue;
    ctx.strokeStyle = axis.colour;
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x + 22 * axis.x, y + 22 * axis.y);
    ctx.stroke();
    halo(ctx, axis.name, x + 31 * axis.x, y + 31 * axis.y, inks);
    ctx.lineWidth = 2;
  }
  ctx.textAlign = "start";
  ctx.textBaseline = "alphabetic";
}

/** The same in words. */
function legendText(legends) {
  const one = ({ title, unit: unitName, names, span }) =>
    names ? `${title}: ${names.join(", ")}` : `${withUnit(title, unitName)} from ${shown(span[0], 3)} to ${shown(span[1], 3)}`;
  return `Legend: ${legends.map(one).join("; ") || "plain colour"}`;
}
