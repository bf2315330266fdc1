// From the node in the middle outwards along the tree, as far as there is something to see: the level of detail.
//
// Nothing is measured from a far origin. The camera knows where one node near the middle is, each step to a neighbour
// composes one isometry, and a branch is left when its image is smaller than a pixel.

/** @returns {Scene} */
function makeScene() {
  return {
    count: 0, capacity: 0, seen: 0,
    node: new Int32Array(0),
    link: new Int32Array(0), // place in the scene of the node's parent, -1 when it is not there
    x: new Float32Array(0),
    y: new Float32Array(0),
    scale: new Float32Array(0), // pixels that a short hyperbolic unit is long there
    frame: new Float64Array(0),
  };
}

/** @param {Scene} scene @param {number} capacity */
function growScene(scene, capacity) {
  scene.node = larger(scene.node, new Int32Array(capacity));
  scene.link = larger(scene.link, new Int32Array(capacity));
  scene.x = larger(scene.x, new Float32Array(capacity));
  scene.y = larger(scene.y, new Float32Array(capacity));
  scene.scale = larger(scene.scale, new Float32Array(capacity));
  scene.frame = larger(scene.frame, new Float64Array(4 * capacity));
  scene.capacity = capacity;
}

// The new array, with the content of the old one at its beginning.
/**
 * @template {Int32Array | Float32Array | Float64Array} Kind
 * @param {Kind} old
 * @param {Kind} grown
 */
function larger(old, grown) {
  grown.set(old);
  return grown;
}

const ROOM = 6; // pixels of a full circle of children, per pixel of a short hyperbolic unit

// Work still to do: nodes whose neighbours have not been looked at.
const pending = { node: new Int32Array(1024), from: new Int32Array(1024), place: new Int32Array(1024),
  frame: new Float64Array(4096) };

/**
 * @param {number} at
 * @param {number} node
 * @param {number} from
 * @param {number} place
 * @param {number} ar
 * @param {number} ai
 * @param {number} br
 * @param {number} bi
 */
function push(at, node, from, place, ar, ai, br, bi) {
  if (at === pending.node.length) {
    pending.node = larger(pending.node, new Int32Array(2 * at));
    pending.from = larger(pending.from, new Int32Array(2 * at));
    pending.place = larger(pending.place, new Int32Array(2 * at));
    pending.frame = larger(pending.frame, new Float64Array(8 * at));
  }
  pending.node[at] = node;
  pending.from[at] = from;
  pending.place[at] = place;
  pending.frame[4 * at] = ar;
  pending.frame[4 * at + 1] = ai;
  pending.frame[4 * at + 2] = br;
  pending.frame[4 * at + 3] = bi;
}

/**
 * @param {Scene} scene
 * @param {number} node
 * @param {number} link
 * @param {number} x
 * @param {number} y
 * @param {number} scale
 * @param {number} ar
 * @param {number} ai
 * @param {number} br
 * @param {number} bi
 */
function emit(scene, node, link, x, y, scale, ar, ai, br, bi) {
  if (scene.count === scene.capacity) growScene(scene, Math.max(4096, 2 * scene.capacity));
  const place = scene.count++;
  scene.node[place] = node;
  scene.link[place] = link;
  scene.x[place] = x;
  scene.y[place] = y;
  scene.scale[place] = scale;
  scene.frame[4 * place] = ar;
  scene.frame[4 * place + 1] = ai;
  scene.frame[4 * place + 2] = br;
  scene.frame[4 * place + 3] = bi;
  return place;
}

// Fill `scene` with what the camera sees.
//   detail  pixels: a branch is followed while a short hyperbolic unit is at least this long there
//   keep    share of the leaves to show, with all their ancestors
/** @param {Tree} tree @param {Camera} camera @param {number} detail @param {number} keep @param {Scene} scene */
function walk(tree, camera, detail, keep, scene) {
  const { first, parent, steps, reach } = tree;
  const { radius, top } = camera;
  const followsVectors = summary.picture === null;
  const least = (2 * detail) / radius; // of 1 - |z|²
  const shortest = detail / radius; // chord of an edge worth drawing
  // Beyond this 4 cosh²(d/2), about e^d, nothing is seen.
  const horizon = 4 / least;
  scene.count = 0;
  scene.seen = 0;

  const [sr, si, tr, ti] = camera.frame;
  const a2 = sr * sr + si * si;
  const x0 = (tr * sr - ti * si) / a2;
  const y0 = (tr * si + ti * sr) / a2;
  push(0, camera.anchor, -1, emit(scene, camera.anchor, -1, x0, y0, (0.5 * radius) / a2, sr, si, tr, ti),
    sr, si, tr, ti);
  let waiting = 1;

  while (waiting > 0) {
    waiting--;
    const node = pending.node[waiting];
    const from = pending.from[waiting];
    const place = pending.place[waiting];
    const ar = pending.frame[4 * waiting];
    const ai = pending.frame[4 * waiting + 1];
    const br = pending.frame[4 * waiting + 2];
    const bi = pending.frame[4 * waiting + 3];
    const size2 = ar * ar + ai * ai; // cosh²(d/2), so that 1 - |z|² = 1 / size2
    const x = (br * ar - bi * ai) / size2;
    const y = (br * ai + bi * ar) / size2;

    const last = first[node + 1];
    // Around a node at this scale there is room for so many children, a pixel each.
    const room = followsVectors ? 1 : (ROOM * radius) / size2 / (last - first[node]);
    const shown = Math.min(keep, room);
    for (let child = first[node]; child < last; child++) {
      if (child === from) continue;
      if (room < 1 && tree.keep[child] >= shown && first[child] === first[child + 1]) continue;
      const s = 4 * child;
      const c = steps[s], d = steps[s + 1], cosh = steps[s + 2], sinh = steps[s + 3];
      const ur = ar * c - ai * d, ui = ar * d + ai * c; // turned
      const vr = br * c + bi * d, vi = bi * c - br * d;
      const nr = ur * cosh + vr * sinh, ni = ui * cosh + vi * sinh; // and moved
      const mr = ur * sinh + vr * cosh, mi = ui * sinh + vi * cosh;
      const n2 = nr * nr + ni * ni;
      const cx = (mr * nr - mi * ni) / n2;
      const cy = (mr * ni + mi * nr) / n2;
      const chord = Math.abs(cx - x) + Math.abs(cy - y);
      const isLarge = n2 * least < 1;
      let childPlace = -1;
      if (isLarge || chord > shortest) {
        scene.seen++;
        if (tree.keep[child] < shown) {
          childPlace = emit(scene, child, place, cx, cy, (0.5 * radius) / n2, nr, ni, mr, mi);
        }
      }
      if (first[child] === first[child + 1]) continue;
      const isFollowed = followsVectors ? 4 * n2 < horizon * Math.exp(reach[child]) : isLarge;
      if (isFollowed) push(waiting++, child, node, childPlace, nr, ni, mr, mi);
    }

    const up = parent[node];
    if (up < 0 || up === from || node === top) continue;
    const s = 4 * node;
    const c = steps[s], d = steps[s + 1], cosh = steps[s + 2], sinh = steps[s + 3];
    const ur = ar * cosh - br * sinh, ui = ai * cosh - bi * sinh; // moved back
    const vr = br * cosh - ar * sinh, vi = bi * cosh - ai * sinh;
    const nr = ur * c + ui * d, ni = ui * c - ur * d; // and turned back
    const mr = vr * c - vi * d, mi = vi * c + vr * d;
    const n2 = nr * nr + ni * ni;
    const px = (mr * nr - mi * ni) / n2;
    const py = (mr * ni + mi * nr) / n2;
    scene.seen++;
    const upPlace = emit(scene, up, -1, px, py, (0.5 * radius) / n2, nr, ni, mr, mi);
    if (place >= 0) scene.link[place] = upPlace;
    // Upwards the way is short, and in real vectors what lies behind a far parent may be near.
    if (followsVectors || n2 * least < 1) push(waiting++, up, node, upPlace, nr, ni, mr, mi);
  }
}

// The frame of a node that need not be in the scene, by the way along the tree.
/** @param {Tree} tree @param {Camera} camera @param {number} node @returns {Isometry} */
function frameOf(tree, camera, node) {
  let frame = camera.frame;
  let at = camera.anchor;
  for (const next of pathBetween(tree, camera.anchor, node)) {
    if (next === at) continue;
    frame = next > at ? stepDown(tree, frame, next) : stepUp(tree, frame, at);
    at = next;
  }
  return frame;
}

/** @param {Tree} tree @param {Isometry} frame @param {number} child @returns {Isometry} */
function stepDown(tree, frame, child) {
  const [c, d, cosh, sinh] = tree.steps.subarray(4 * child, 4 * child + 4);
  return compose(frame, [c * cosh, d * cosh, c * sinh, d * sinh]);
}

/** @param {Tree} tree @param {Isometry} frame @param {number} child @returns {Isometry} */
function stepUp(tree, frame, child) {
  const [c, d, cosh, sinh] = tree.steps.subarray(4 * child, 4 * child + 4);
  return compose(frame, compose([cosh, 0, -sinh, 0], [c, -d, 0, 0]));
}
