// Which grain lies under the pointer: a ray against all of them. A million take some 20 ms.

/** Grains are not asked for more than this many pixels of aim. */
const AIM = 4;

/**
 * The row of the first grain that a ray meets on the side of the cut that is left, or -1.
 * `grains` are centre and radius of each; `flat` takes them as discs in planes of constant z.
 */
function firstHit(grains, { origin: o, direction: d }, { grow, clip, flat, least }) {
  // The part of the ray that the cut leaves.
  const [over, closing] = [dot(clip, o) + clip[3], dot(clip, d)];
  const enter = closing < 0 ? Math.max(0, -over / closing) : closing === 0 && over > 0 ? Infinity : 0;
  const leave = closing > 0 ? -over / closing : Infinity;
  let [best, closest] = [-1, Infinity];
  for (let at = 0; at < grains.length; at += 4) {
    const [x, y, z] = [grains[at] - o[0], grains[at + 1] - o[1], grains[at + 2] - o[2]];
    const r = Math.max(grains[at + 3] * grow, least);
    let t = flat ? z / d[2] : x * d[0] + y * d[1] + z * d[2];
    const [px, py, pz] = [x - t * d[0], y - t * d[1], z - t * d[2]];
    const room = r * r - px * px - py * py - pz * pz;
    if (room < 0) continue;
    const half = flat ? 0 : Math.sqrt(room);
    if (t + half < enter || t - half > leave) continue;
    t = Math.max(t - half, enter);
    if (t < closest) [best, closest] = [at / 4, t];
  }
  return best;
}

/** The grain at a place of the picture (-1 to 1 each way): one that is met, else one that is nearly met. */
function pickGrain(grains, camera, scene, x, y) {
  const ray = camera.ray(x, y);
  const flat = scene.planar && Math.abs(ray.direction[2]) > 0.35;
  const settings = { grow: scene.look.grow, clip: scene.clip, flat, least: 0 };
  const hit = firstHit(grains, ray, settings);
  if (hit >= 0) return hit;
  const least = AIM / camera.pixelsPerMetre(camera.target, scene.canvas.clientHeight);
  return firstHit(grains, ray, { ...settings, least });
}

/** How many grains the cut leaves, whole or in part. */
function countLeft(grains, clip, grow) {
  let count = 0;
  for (let at = 0; at < grains.length; at += 4) {
    const over = clip[0] * grains[at] + clip[1] * grains[at + 1] + clip[2] * grains[at + 2] + clip[3];
    if (over <= grains[at + 3] * grow) count++;
  }
  return count;
}
