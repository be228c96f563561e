// Programs for the graphics card. Places are in metres, `view` is the frame of the camera, which looks along -z.

const GLSL = "#version 300 es\nprecision highp float;\nprecision highp int;\n";

const COMMON = `
uniform mat4 view, projection;
uniform vec4 clip;          // what has dot(clip.xyz, x) + clip.w > 0 is cut away
uniform sampler2D map;
uniform vec2 span;          // values of the first and the last colour
uniform vec3 plain;         // colour without a field
uniform bool mapped;

vec3 colourOf(float value) {
  if (!mapped) return plain;
  if (abs(value) > 1e37) return vec3(0.55); // no value
  float t = clamp((value - span.x) / (span.y - span.x), 0.0, 1.0);
  return texelFetch(map, ivec2(int(t * 255.0 + 0.5), 0), 0).rgb;
}
`;

// Data come from textures, by number: instances of four corners each are drawn one by one by software renderers.
const GRAIN = `
uniform sampler2D grains;    // centre, radius
uniform sampler2D values;    // value, angle
vec4 datum(sampler2D data, int k) {
  int width = textureSize(data, 0).x;
  return texelFetch(data, ivec2(k % width, k / width), 0);
}
`;

/** Four corners for each grain. */
const CORNER = `
  int k = gl_VertexID >> 2;
  vec2 corner = vec2(gl_VertexID & 1, (gl_VertexID >> 1) & 1) * 2.0 - 1.0;
  vec4 grain = datum(grains, k);
  vec2 value = datum(values, k).xy;
`;

const HIDDEN = "gl_Position = vec4(2.0, 2.0, 2.0, 1.0)";

const LIGHT = `
uniform vec3 faded;
uniform float dim;          // how far colours fade

vec3 lit(vec3 colour, vec3 normal) {
  float key = max(dot(normal, vec3(-0.37, 0.56, 0.74)), 0.0);
  float fill = 0.5 + 0.5 * normal.z;
  float shine = key * key;
  shine *= shine;
  shine *= shine;
  return mix(colour * (0.30 + 0.28 * fill + 0.50 * key) + 0.08 * shine * shine * shine, faded, dim);
}
`;

const SHADERS = {
  // A quad towards the eye that just covers the outline of the sphere; the surface is found in each pixel.
  sphere: {
    vertex: `${COMMON}${GRAIN}
uniform float grow;
uniform bool perspective;
flat out vec3 colour;
flat out vec4 ball;         // centre in the view, radius
flat out float beyond;      // of the centre, over the plane of the cut
out vec3 offset;

void main() {
${CORNER}  ball = vec4((view * vec4(grain.xyz, 1.0)).xyz, grain.w * grow);
  beyond = dot(clip.xyz, grain.xyz) + clip.w;
  if (beyond > ball.w) { ${HIDDEN}; return; }
  colour = colourOf(value.x);
  if (perspective) {
    float d = length(ball.xyz);
    vec3 towards = ball.xyz / d;
    vec3 x = normalize(vec3(-towards.z, 0.0, towards.x));
    vec3 y = cross(x, towards);
    float sine = min(ball.w / d, 0.99);
    offset = ball.w * inversesqrt(1.0 - sine * sine) * (corner.x * x + corner.y * y);
  } else {
    offset = ball.w * vec3(corner, 0.0);
  }
  gl_Position = projection * vec4(ball.xyz + offset, 1.0);
}`,
    fragment: `${COMMON}${LIGHT}
uniform bool perspective, smoothed;
flat in vec3 colour;
flat in vec4 ball;
flat in float beyond;
in vec3 offset;
out vec4 pixel;

void main() {
  // All relative to the centre: differences of far places would lose the digits.
  vec3 along = perspective ? normalize(ball.xyz + offset) : vec3(0.0, 0.0, -1.0);
  vec3 nearest = offset - along * dot(offset, along);
  float squared = dot(nearest, nearest);
  float alpha = 1.0;
  if (smoothed) {
    float distance = sqrt(squared);
    alpha = clamp((ball.w - distance) / fwidth(distance) + 0.5, 0.0, 1.0);
    if (alpha <= 0.0) discard;
  } else if (squared > ball.w * ball.w) discard;
  vec3 hit = nearest - along * sqrt(max(ball.w * ball.w - squared, 0.0));
  vec3 normal = hit / ball.w;
  if (beyond > -ball.w) {
    vec3 across = mat3(view) * clip.xyz;
    float over = beyond + dot(across, hit);
    if (over > 0.0) {
      float closing = dot(across, along);
      if (closing >= 0.0) discard;
      hit -= along * (over / closing);
      if (dot(hit, hit) > ball.w * ball.w) discard;
      normal = vec3(0.0, 0.0, 1.0); // cut faces are bright from everywhere
    }
  }
  float z = ball.z + hit.z;
  float depth = projection[2][2] * z + projection[3][2];
  gl_FragDepth = 0.5 + 0.5 * (perspective ? depth / -z : depth);
  pixel = vec4(lit(colour, normal), alpha);
}`,
  },

  // A small sphere: its outline is as good as a circle. One point each, and a pixel costs a third of the above.
  bead: {
    vertex: `${COMMON}${GRAIN}
uniform float grow, height;
flat out vec3 colour;
flat out vec3 ball;         // depth of the centre, radius in metres and in pixels

void main() {
  vec4 grain = datum(grains, gl_VertexID);
  vec4 seen = view * vec4(grain.xyz, 1.0);
  gl_Position = projection * seen;
  float r = grain.w * grow;
  ball = vec3(seen.z, r, 0.5 * r * projection[1][1] * height / gl_Position.w);
  gl_PointSize = 2.0 * ball.z + 1.0;
  colour = colourOf(datum(values, gl_VertexID).x);
}`,
    fragment: `${COMMON}${LIGHT}
uniform bool perspective, smoothed;
flat in vec3 colour;
flat in vec3 ball;
out vec4 pixel;

void main() {
  vec2 place = (gl_PointCoord * 2.0 - 1.0) * vec2(1.0, -1.0) * (1.0 + 0.5 / ball.z);
  float squared = dot(place, place);
  float alpha = smoothed ? clamp((1.0 - sqrt(squared)) * ball.z + 0.5, 0.0, 1.0) : step(squared, 1.0);
  if (alpha <= 0.0) discard;
  vec3 normal = vec3(place, sqrt(max(1.0 - squared, 0.0)));
  float z = ball.x + ball.y * normal.z;
  float depth = projection[2][2] * z + projection[3][2];
  gl_FragDepth = 0.5 + 0.5 * (perspective ? depth / -z : depth);
  pixel = vec4(lit(colour, normal), alpha);
}`,
  },

  // Grains of a pixel or so: nothing to see but colour and place.
  point: {
    vertex: `${COMMON}${GRAIN}
uniform float grow, height;
flat out vec3 colour;

void main() {
  vec4 grain = datum(grains, gl_VertexID);
  if (dot(clip.xyz, grain.xyz) + clip.w > 0.0) { ${HIDDEN}; return; }
  colour = colourOf(datum(values, gl_VertexID).x);
  gl_Position = projection * view * vec4(grain.xyz, 1.0);
  gl_PointSize = max(1.0, grain.w * grow * projection[1][1] * height / gl_Position.w);
}`,
    fragment: `${LIGHT}
flat in vec3 colour;
out vec4 pixel;
void main() { pixel = vec4(lit(colour, vec3(-0.2, 0.4, 0.9)), 1.0); }`,
  },

  // Discs lie in the x–y plane; a line from the centre shows how they roll.
  disc: {
    vertex: `${COMMON}${GRAIN}
uniform float grow;
flat out vec3 colour;
flat out vec2 mark;
out vec2 place;
out float beyond;

void main() {
${CORNER}  colour = colourOf(value.x);
  mark = vec2(cos(value.y), sin(value.y));
  place = corner * 1.02;
  vec3 world = grain.xyz + vec3(place * grain.w * grow, 0.0);
  beyond = dot(clip.xyz, world) + clip.w;
  gl_Position = projection * view * vec4(world, 1.0);
}`,
    fragment: `${LIGHT}
uniform bool marked;
flat in vec3 colour;
flat in vec2 mark;
in vec2 place;
in float beyond;
out vec4 pixel;

void main() {
  float r = length(place), width = max(fwidth(r), 1e-4);
  float alpha = clamp((1.0 - r) / width + 0.5, 0.0, 1.0);
  if (alpha <= 0.0 || beyond > 0.0) discard;
  float rim = clamp((r - 0.93) / width + 0.5, 0.0, 1.0);
  vec3 shade = lit(colour, normalize(vec3(0.25 * place, 1.0)));
  shade = mix(shade, shade * 0.55, rim);
  vec2 turned = vec2(dot(place, mark), mark.x * place.y - mark.y * place.x);
  float line = clamp((0.055 - abs(turned.y)) / width + 0.5, 0.0, 1.0) * step(0.0, turned.x);
  if (marked && r < 0.95) shade = mix(shade, shade * 0.3, line);
  pixel = vec4(shade, alpha);
}`,
  },

  // Lines of some pixels' width, and arrows: the same with a head (three corners more).
  line: {
    vertex: `${COMMON}${GRAIN}
uniform sampler2D lines;     // start with value, end, start with value, ...
uniform vec2 pixels;        // size of the picture on the page, so that widths are the same on every screen
uniform vec2 widths;        // of the weakest and the strongest [px]
uniform vec2 strength;      // values of the weakest and the strongest
uniform bool arrows;
flat out vec3 colour;
flat out float halfWidth;
out float across;

void main() {
  int count = arrows ? 9 : 6, k = gl_VertexID / count, c = gl_VertexID % count;
  vec4 first = datum(lines, 2 * k);
  vec3 start = first.xyz, end = datum(lines, 2 * k + 1).xyz;
  float value = first.w;
  // Lines end at the cut; arrows go with the grain they start from.
  float over = dot(clip.xyz, start) + clip.w, beyond = dot(clip.xyz, end) + clip.w;
  if (over > 0.0 && (arrows || beyond > 0.0)) { ${HIDDEN}; return; }
  if (!arrows && over > 0.0) start = mix(start, end, over / (over - beyond));
  else if (!arrows && beyond > 0.0) end = mix(end, start, beyond / (beyond - over));
  vec4 a = projection * view * vec4(start, 1.0), b = projection * view * vec4(end, 1.0);
  // What lies behind the eye is cut off where it passes it.
  float least = 1e-5;
  if (a.w < least && b.w < least) { ${HIDDEN}; return; }
  if (a.w < least) a = mix(b, a, (b.w - least) / (b.w - a.w));
  if (b.w < least) b = mix(a, b, (a.w - least) / (a.w - b.w));
  colour = colourOf(value);
  float share = abs(value) > 1e37 ? 0.0 : clamp((value - strength.x) / (strength.y - strength.x), 0.0, 1.0);
  halfWidth = 0.5 * mix(widths.x, widths.y, share);
  vec2 from = a.xy / a.w * 0.5 * pixels, to = b.xy / b.w * 0.5 * pixels;
  vec2 way = to - from;
  float reach = max(length(way), 1e-3);
  way /= reach;
  vec2 side = vec2(-way.y, way.x);
  float point = arrows ? min(reach, 7.0 + 2.0 * halfWidth) : 0.0;
  float along, aside, edge;
  if (c < 6) {
    int corner = int[6](0, 1, 2, 2, 1, 3)[c];
    float outside = halfWidth + 1.0;
    along = (corner & 1) == 0 ? 0.0 : reach - point;
    aside = (corner >> 1) == 0 ? -outside : outside;
    edge = aside;
  } else {
    along = c == 6 ? reach : reach - point;
    aside = c == 6 ? 0.0 : (c == 7 ? 0.4 : -0.4) * point;
    edge = 0.0;
  }
  across = edge;
  vec2 place = from + way * along + side * aside;
  vec4 base = mix(a, b, clamp(along / reach, 0.0, 1.0));
  gl_Position = vec4(place / (0.5 * pixels) * base.w, base.z, base.w);
}`,
    fragment: `
uniform float opacity;
flat in vec3 colour;
flat in float halfWidth;
in float across;
out vec4 pixel;
void main() {
  float alpha = clamp(halfWidth - abs(across) + 0.5, 0.0, 1.0) * min(2.0 * halfWidth, 1.0);
  if (alpha <= 0.0) discard;
  pixel = vec4(colour, alpha * opacity);
}`,
  },

  // Walls: glass that is denser where it is seen from the side.
  wall: {
    vertex: `${COMMON}
layout(location = 0) in vec3 corner;
layout(location = 1) in vec3 face;
out vec3 place, normal;
out float beyond;
void main() {
  vec4 seen = view * vec4(corner, 1.0);
  beyond = dot(clip.xyz, corner) + clip.w;
  place = seen.xyz;
  normal = mat3(view) * face;
  gl_Position = projection * seen;
}`,
    fragment: `
uniform vec3 plain;
uniform bool perspective;
in vec3 place, normal;
in float beyond;
out vec4 pixel;
void main() {
  if (beyond > 0.0) discard;
  vec3 towards = perspective ? -normalize(place) : vec3(0.0, 0.0, 1.0);
  float facing = abs(dot(normalize(normal), towards));
  float slant = 1.0 - facing;
  pixel = vec4(plain * (0.75 + 0.35 * facing), 0.09 + 0.22 * slant * slant);
}`,
  },

  // A ring about a picked grain, through everything that is in front of it.
  ring: {
    vertex: `${COMMON}${GRAIN}
uniform vec2 pixels;
uniform float grow;
out vec2 place;
flat out float reach;
void main() {
${CORNER}  vec4 centre = projection * view * vec4(grain.xyz, 1.0);
  reach = grain.w * grow * projection[1][1] * 0.5 * pixels.y / centre.w + 3.0;
  place = corner * (reach + 3.0);
  gl_Position = centre + vec4(place / (0.5 * pixels) * centre.w, 0.0, 0.0);
}`,
    fragment: `
uniform vec3 plain;
in vec2 place;
flat in float reach;
out vec4 pixel;
void main() {
  float alpha = clamp(1.5 - abs(length(place) - reach), 0.0, 1.0);
  if (alpha <= 0.0) discard;
  pixel = vec4(plain, alpha);
}`,
  },
};

/** A program with the places of its uniforms. */
function program(gl, { vertex, fragment }) {
  const made = gl.createProgram();
  const both = [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]];
  for (const [kind, text] of both) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, GLSL + text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
      throw new Error(`a shader does not compile: ${gl.getShaderInfoLog(shader)}`);
    }
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`a shader does not link: ${gl.getProgramInfoLog(made)}`);
  }
  const uniforms = {};
  for (let k = 0; k < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); k++) {
    const { name } = gl.getActiveUniform(made, k);
    uniforms[name] = gl.getUniformLocation(made, name);
  }
  return { made, uniforms };
}
