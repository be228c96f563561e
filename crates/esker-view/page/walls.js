// Walls of a frame: triangles in the world, and the edges that show their shape.

/** Edges between faces that turn by less than this are part of a curved surface [cosine]. */
const CREASE = Math.cos((28 * Math.PI) / 180);

/** Corners, normals and edges of all walls; the shape from the block of walls, the pose from the frame. */
async function wallGeometry(frame) {
  const { vertices, triangles } = frame.walls.head;
  const columns = (table) => Object.fromEntries(table.columns.map((coded) => [coded.name, frame.walls.column(coded, table.rows)]));
  const [of, place] = await Promise.all([columns(vertices).part, columns(vertices).place]);
  const [ofTriangle, corners] = await Promise.all([columns(triangles).part, columns(triangles).corners]);

  // Corners count from the first of their wall.
  const first = new Array(frame.parts.length).fill(0);
  for (let row = vertices.rows - 1; row >= 0; row--) first[of[row]] = row;
  const world = new Float32Array(3 * vertices.rows);
  for (let row = 0; row < vertices.rows; row++) {
    const part = frame.parts[of[row]];
    if (!part) throw new Error("a wall of the frame has no pose");
    world.set(add(turned(part.orientation, place.subarray(3 * row, 3 * row + 3)), part.position), 3 * row);
  }

  const faces = new Float32Array(18 * triangles.rows);
  const edges = new EdgeFinder();
  for (let row = 0; row < triangles.rows; row++) {
    const at = [0, 1, 2].map((c) => 3 * (first[ofTriangle[row]] + corners[3 * row + c]));
    const [a, b, c] = at.map((k) => [world[k], world[k + 1], world[k + 2]]);
    const normal = unit(cross(subtract(b, a), subtract(c, a)));
    [a, b, c].forEach((corner, k) => faces.set([...corner, ...normal], 18 * row + 6 * k));
    edges.add(a, b, normal);
    edges.add(b, c, normal);
    edges.add(c, a, normal);
  }
  return { faces, edges: edges.lines(), corners: world };
}

/** Keeps edges of a single face and those where two faces make a crease. Corners are matched by place: meshes repeat them. */
class EdgeFinder {
  constructor() {
    this.edges = new Map();
  }

  add(a, b, normal) {
    const [p, q] = [a.map(Math.fround).join(), b.map(Math.fround).join()];
    const key = p < q ? `${p} ${q}` : `${q} ${p}`;
    const known = this.edges.get(key);
    if (!known) this.edges.set(key, { a, b, normal, sharp: true });
    else known.sharp = Math.abs(dot(known.normal, normal)) < CREASE;
  }

  lines() {
    const sharp = [...this.edges.values()].filter((edge) => edge.sharp);
    return Float32Array.from(sharp.flatMap(({ a, b }) => [...a, ...b]));
  }
}
