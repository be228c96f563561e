// Vectors are arrays of three numbers, rotations are quaternions x, y, z, w, matrices are 16 numbers by columns.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const size = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => times(a, 1 / (size(a) || 1));
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** The vector turned by a quaternion. */
function turned(q, v) {
  const t = times(cross(q, v), 2);
  return add(add(v, times(t, q[3])), cross(q, t));
}

/** World to view: the camera looks along -z of its own frame. */
function viewMatrix(eye, right, up, back) {
  return new Float32Array([
    right[0], up[0], back[0], 0,
    right[1], up[1], back[1], 0,
    right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
  ]);
}

function perspectiveMatrix(halfHeight, aspect, near, far) {
  const depth = 1 / (near - far);
  return new Float32Array([
    1 / (halfHeight * aspect), 0, 0, 0,
    0, 1 / halfHeight, 0, 0,
    0, 0, (near + far) * depth, -1,
    0, 0, 2 * near * far * depth, 0,
  ]);
}

function orthographicMatrix(halfHeight, aspect, near, far) {
  const depth = 1 / (near - far);
  return new Float32Array([
    1 / (halfHeight * aspect), 0, 0, 0,
    0, 1 / halfHeight, 0, 0,
    0, 0, 2 * depth, 0,
    0, 0, (near + far) * depth, 1,
  ]);
}

/** The smallest and the largest finite number, or 0 and 1 where there is none. */
function range(values) {
  let low = Infinity;
  let high = -Infinity;
  for (let k = 0; k < values.length; k++) {
    const value = values[k];
    if (value < low && value > -Infinity) low = value;
    if (value > high && value < Infinity) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** About `count` round numbers between two. */
function ticks(low, high, count) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const rough = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return found;
}

/** A number for people: a few digits, powers of ten only where they help. */
function shown(value, digits = 4) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  if (value === 0) return "0";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const text = value.toPrecision(digits);
  const plain = Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5;
  const [mantissa, exponent] = (plain ? String(Number(text)) : Number(text).toExponential()).split("e");
  return exponent ? `${mantissa}e${exponent.replace("+", "")}` : mantissa;
}

const withUnit = (name, unitName) => (unitName ? `${name} [${unitName}]` : name);
