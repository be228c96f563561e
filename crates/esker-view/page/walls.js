// Walls of a frame: triangles in the world, and the edges that show their shape.

/** Edges between faces that turn by less than this are part of a curved surface [cosine]. */
const CREASE = Math.cos((28 * Math.PI) / 180);

/** Shapes by their block: many frames share one. */
const shapes = new WeakMap();

/** Corners in the frame of their wall, triangles and edges by numbers of corners. */
async function wallShape(block) {
  const { vertices, triangles } = block.head;
  const column = (table, name) => {
    const coded = table.columns.find((candidate) => candidate.name === name);
    if (!coded) throw new Error(`walls without the column “${name}”`);
    return block.column(coded, table.rows);
  };
  const [part, place, ofTriangle, corners] = await Promise.all([
    column(vertices, "part"), column(vertices, "place"), column(triangles, "part"), column(triangles, "corners"),
  ]);
  // Corners count from the first of their wall.
  const first = [];
  for (let row = vertices.rows - 1; row >= 0; row--) first[part[row]] = row;
  const faces = Uint32Array.from(corners, (corner, k) => first[ofTriangle[Math.floor(k / 3)]] + corner);
  return { part, place, faces, edges: sharpEdges(part, place, faces) };
}

/** Edges of a single face, and those where two faces make a crease. Corners are matched by place: meshes repeat them. */
function sharpEdges(part, place, faces) {
  const key = (k) => `${part[k]} ${place[3 * k]} ${place[3 * k + 1]} ${place[3 * k + 2]}`;
  const at = (k) => place.subarray(3 * k, 3 * k + 3);
  const edges = new Map();
  for (let k = 0; k < faces.length; k += 3) {
    const triangle = faces.subarray(k, k + 3);
    const [a, b, c] = [...triangle].map(at);
    const normal = unit(cross(subtract(b, a), subtract(c, a)));
    for (let side = 0; side < 3; side++) {
      const ends = [triangle[side], triangle[(side + 1) % 3]];
      const name = ends.map(key).sort().join();
      const known = edges.get(name);
      if (known) known.sharp = Math.abs(dot(known.normal, normal)) < CREASE;
      else edges.set(name, { ends, normal, sharp: true });
    }
  }
  return [...edges.values()].filter((edge) => edge.sharp).flatMap((edge) => edge.ends);
}

/** All walls where the frame has them: corners with normals, edges by both ends, and the corners alone. */
async function wallGeometry(frame) {
  if (!shapes.has(frame.walls)) shapes.set(frame.walls, await wallShape(frame.walls));
  const { part, place, faces, edges } = shapes.get(frame.walls);
  const corners = new Float32Array(place.length);
  for (let k = 0; k < part.length; k++) {
    const pose = frame.parts[part[k]];
    if (!pose) throw new Error("a wall of the frame has no pose");
    corners.set(add(turned(pose.orientation, place.subarray(3 * k, 3 * k + 3)), pose.position), 3 * k);
  }
  const at = (k) => corners.subarray(3 * k, 3 * k + 3);
  const triangles = new Float32Array(6 * faces.length);
  for (let k = 0; k < faces.length; k += 3) {
    const [a, b, c] = [at(faces[k]), at(faces[k + 1]), at(faces[k + 2])];
    const normal = unit(cross(subtract(b, a), subtract(c, a)));
    [a, b, c].forEach((corner, side) => {
      triangles.set(corner, 6 * (k + side));
      triangles.set(normal, 6 * (k + side) + 3);
    });
  }
  const lines = new Float32Array(3 * edges.length);
  edges.forEach((corner, k) => lines.set(at(corner), 3 * k));
  return { faces: triangles, edges: lines, corners };
}
