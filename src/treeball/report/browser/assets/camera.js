// Where we look from: one node near the middle and its frame on the screen. Moving is composing with an isometry.

const DIRECT_FLIGHT = 14; // hyperbolic length up to which a straight flight keeps its precision
const LARGEST_ZOOM = 12;

/** @returns {Camera} */
function makeCamera() {
  // centre and radius of the disk in CSS pixels; `top` is the root of what is shown
  return { anchor: 0, frame: [...IDENTITY], top: 0, zoom: 1, radius: 1, baseRadius: 1, x: 0, y: 0, flight: null, isFlat: false };
}

/** @param {Camera} camera @param {number} px @param {number} py @returns {Point} */
function toDisk(camera, px, py) {
  let x = (px - camera.x) / camera.radius;
  let y = (camera.y - py) / camera.radius;
  const far = Math.hypot(x, y) / 0.96; // the rim itself cannot be grasped
  if (far > 1) {
    x /= far;
    y /= far;
  }
  return [x, y];
}

/** @param {Camera} camera @param {Point} from @param {Point} to */
function dragCamera(camera, from, to) {
  camera.flight = null;
  camera.frame = normalised(compose(translationBetween(...from, ...to), camera.frame));
}

// Magnify the disk; what is under (px, py) stays there.
/** @param {Camera} camera @param {number} factor @param {number} px @param {number} py */
function zoomCamera(camera, factor, px, py) {
  const zoom = Math.min(LARGEST_ZOOM, Math.max(0.6, camera.zoom * factor));
  const before = toDisk(camera, px, py);
  camera.zoom = zoom;
  camera.radius = camera.baseRadius * zoom;
  const after = toDisk(camera, px, py);
  camera.frame = normalised(compose(translationBetween(...before, ...after), camera.frame));
}

// Keep hold of a node near the middle, where numbers are most exact.
/** @param {Camera} camera @param {Scene} scene */
function anchorNearMiddle(camera, scene) {
  let best = -1;
  let largest = 0;
  for (let i = 0; i < scene.count; i++) {
    if (scene.scale[i] > largest) {
      largest = scene.scale[i];
      best = i;
    }
  }
  if (best < 0 || scene.node[best] === camera.anchor) return;
  camera.anchor = scene.node[best];
  const [ar, ai, br, bi] = scene.frame.subarray(4 * best, 4 * best + 4);
  camera.frame = normalised([ar, ai, br, bi]);
}

// Legs of a flight: while a leg lasts, `node` comes from `distance` away to the middle.
/** @param {Tree} tree @param {Camera} camera @param {number} target @param {number} now @param {boolean} isInstant */
function startFlight(tree, camera, target, now, isInstant) {
  const there = polar(frameOf(tree, camera, target));
  /** @type {Leg[]} */
  const legs = [];
  if (there.distance <= DIRECT_FLIGHT) {
    legs.push({ node: target, ...there });
  } else {
    // Far away: follow the tree, edge by edge, so that each leg is exact.
    let frame = camera.frame;
    for (const node of pathBetween(tree, camera.anchor, target)) {
      const last = legs.at(-1);
      if (last) {
        const centred = fromPolar(0, 0, last.turn);
        frame = node > last.node ? stepDown(tree, centred, node) : stepUp(tree, centred, last.node);
      }
      legs.push({ node, ...polar(frame) });
    }
  }
  const length = legs.reduce((sum, leg) => sum + leg.distance, 0);
  const duration = isInstant ? 0 : Math.min(1500, 320 + 70 * length);
  camera.flight = { legs, length, begin: now, duration, target };
}

// Move the camera along its flight, to its end when it is time.
/** @param {Camera} camera @param {number} now */
function advanceFlight(camera, now) {
  if (!camera.flight) return;
  const { legs, length, begin, duration } = camera.flight;
  const time = duration > 0 ? Math.min(1, (now - begin) / duration) : 1;
  const eased = time < 0.5 ? 4 * time ** 3 : 1 - (2 - 2 * time) ** 3 / 2;
  let way = eased * length;
  let number = 0;
  while (number < legs.length - 1 && way > legs[number].distance) way -= legs[number++].distance;
  const leg = legs[number];
  camera.anchor = leg.node;
  camera.frame = fromPolar(time >= 1 ? 0 : Math.max(0, leg.distance - way), leg.direction, leg.turn);
  if (time >= 1) camera.flight = null;
}
