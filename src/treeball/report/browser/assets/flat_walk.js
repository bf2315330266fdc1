// From the root of what is shown downwards in a layout to scale: what is on the screen and larger than a pixel.
//
// Places in the scene are pixels, the second axis upwards as in the disk, so that all that draws and finds nodes need not
// know of layouts; see `camera.isFlat`.

const FLAT_MARGIN = 4; // pixels beyond the edge of the screen
const ROOM_FOR_A_DOT = 14; // pixels
const LEAST_ROOM = 0.1; // what is as thin and faint as can be seen
let waitingNodes = new Int32Array(1024);
let waitingLinks = new Int32Array(1024);

// Fill `scene` with what the view sees; `detail` and `keep` as in walk.js.
/** @param {App} app @param {Flat} flat @param {number} detail @param {number} keep @param {Scene} scene */
function walkFlat(app, flat, detail, keep, scene) {
  const { tree, top } = app;
  const { first } = tree;
  const { x, y, boxes, view } = flat;
  const isRectangular = flat.kind === 'rectangular';
  const rowPixels = isRectangular ? view.sy : (Math.PI * view.sx) / Math.max(1, summary.to_scale?.rows ?? 1);
  const half = 0.5 * app.camera.baseRadius;
  scene.count = 0;
  scene.seen = 0;

  /** @param {number} node @param {number} link */
  function add(node, link) {
    const room = (rowPixels * tree.size[node]) / ROOM_FOR_A_DOT;
    return emit(scene, node, link, view.x + view.sx * x[node], -(view.y + view.sy * y[node]), half * Math.min(1, Math.max(LEAST_ROOM, room)), 1, 0, 0, 0);
  }

  // Whether the subtree of a node, or the edge to it, touches the screen.
  /** @param {number} node @param {number} up */
  function isSeen(node, up) {
    const b = 4 * node;
    return view.x + view.sx * Math.max(boxes[b + 2], x[up]) >= -FLAT_MARGIN
      && view.x + view.sx * Math.min(boxes[b], x[up]) <= app.width + FLAT_MARGIN
      && view.y + view.sy * Math.max(boxes[b + 3], y[up]) >= -FLAT_MARGIN
      && view.y + view.sy * Math.min(boxes[b + 1], y[up]) <= app.height + FLAT_MARGIN;
  }

  waitingNodes[0] = top;
  waitingLinks[0] = add(top, -1);
  let waiting = 1;
  while (waiting > 0) {
    waiting--;
    const node = waitingNodes[waiting];
    const link = waitingLinks[waiting];
    const last = first[node + 1];
    const many = last - first[node];
    if (!many) continue;
    const high = view.sy * (boxes[4 * node + 3] - boxes[4 * node + 1]);
    const wide = view.sx * (boxes[4 * node + 2] - boxes[4 * node]);
    if (high < detail && wide < detail) continue;
    // Of a subtree in less than a row of pixels, the longest branch is all that can be seen.
    const only = isRectangular && high < detail ? deepestChild(flat, first[node], last) : -1;
    for (let child = first[node]; child < last; child++) {
      if (only >= 0 && child !== only) continue;
      if (!isSeen(child, node)) continue;
      const isLeaf = first[child] === first[child + 1];
      const moved = Math.max(Math.abs(view.x + view.sx * x[child] - scene.x[link]), Math.abs(view.y + view.sy * y[child] + scene.y[link]));
      let place = link;
      // Short steps without a fork are joined, as a chain of thousands has them.
      if (isLeaf || many > 1 || moved >= detail) {
        scene.seen++;
        if (tree.keep[child] >= keep) continue;
        place = add(child, link);
      }
      if (isLeaf) continue;
      if (waiting === waitingNodes.length) {
        waitingNodes = larger(waitingNodes, new Int32Array(2 * waiting));
        waitingLinks = larger(waitingLinks, new Int32Array(2 * waiting));
      }
      waitingNodes[waiting] = child;
      waitingLinks[waiting++] = place;
    }
  }
}

// What people look at is there in any case, be it without its edge.
/** @param {App} app @param {Flat} flat @param {Scene} scene @param {Int32Array} where */
function addAskedNodes(app, flat, scene, where) {
  const asked = [app.focus, ...(app.highlight ? app.highlight.nodes : [])];
  for (const node of asked) {
    if (where[node] >= 0 || !isWithin(app.tree, node, app.top)) continue;
    const [px, py] = flatPlace(flat, node);
    where[node] = emit(scene, node, -1, px, py, 0.5 * app.camera.baseRadius, 1, 0, 0, 0);
  }
}

/** @param {Flat} flat @param {number} node @returns {Point} */
function flatPlace({ x, y, view }, node) {
  return [view.x + view.sx * x[node], -(view.y + view.sy * y[node])];
}

/** @param {Flat} flat @param {number} first @param {number} last */
function deepestChild({ boxes }, first, last) {
  let best = first;
  for (let child = first + 1; child < last; child++) if (boxes[4 * child + 2] > boxes[4 * best + 2]) best = child;
  return best;
}

// The edge to a node of a rectangular layout: along its row, and across as far as its siblings have not drawn yet.
/** @param {App} app @param {Flat} flat @param {number} place @returns {Box[]} */
function elbow(app, flat, place) {
  const { tree, picture } = app;
  const { scene } = picture;
  const node = scene.node[place];
  const link = scene.link[place];
  const [x0, y0, x1, y1] = [scene.x[link], scene.y[link], scene.x[place], scene.y[place]];
  let from = y0;
  const up = scene.node[link];
  if (picture.keep >= 1 && tree.parent[node] === up) {
    const isAbove = flat.y[node] < flat.y[up];
    const sibling = isAbove ? node + 1 : node - 1;
    if (sibling >= tree.first[up] && sibling < tree.first[up + 1]) {
      const row = -(flat.view.y + flat.view.sy * flat.y[sibling]);
      from = isAbove ? Math.max(y0, row) : Math.min(y0, row);
    }
  }
  return Math.abs(y1 - from) < 0.05 ? [[x0, y1, x1, y1]] : [[x0, y1, x1, y1], [x0, from, x0, y1]];
}
