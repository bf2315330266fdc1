// One picture: what the walk found, with sizes, colours and red lines; redrawn when something moves, finer at rest.

const REST_AFTER = 140; // milliseconds without motion before the fine picture
const FINE = { webgl: { detail: 0.7, nodes: 16000 }, canvas: { detail: 0.8, nodes: 12000 } };
const COARSE = { webgl: { detail: 1.6, nodes: 6500 }, canvas: { detail: 1.8, nodes: 5000 } };
const MOST_OFFENDERS = 8;
const CROWD = 60; // children

/** @param {App} app @returns {Picture} */
function makePicture(app) {
  return { scene: makeScene(), keep: 1, coarseness: 1, isFine: false,
    where: new Int32Array(app.tree.n).fill(-1), arcs: [], extra: [] };
}

// Look from the camera, `isFine` or fast, and fill app.picture.
/** @param {App} app @param {boolean} isFine */
function look(app, isFine) {
  const { tree, camera, picture } = app;
  const { scene, where } = picture;
  const limits = (isFine ? FINE : COARSE)[app.renderer.kind];
  picture.isFine = isFine;
  const detail = limits.detail * (isFine ? 1 : picture.coarseness);
  const most = isFine ? limits.nodes : Math.max(900, limits.nodes / picture.coarseness);
  for (let i = 0; i < scene.count; i++) where[scene.node[i]] = -1;
  const { flat } = app;
  if (camera.top !== app.top && isWithin(tree, camera.anchor, app.top)) camera.top = app.top;
  // Two passes at most: when there is too much to show, show the same share of leaves everywhere.
  for (let pass = 0; pass < 2; pass++) {
    if (flat) walkFlat(app, flat, detail, picture.keep, scene);
    else walk(tree, camera, detail, picture.keep, scene);
    const share = Math.min(1, most / Math.max(1, scene.seen));
    const wanted = share >= 1 ? 1.01 : share;
    const isNear = picture.keep > 0.7 * wanted && picture.keep < 1.4 * wanted;
    if (isNear && (wanted <= 1 || picture.keep >= 1)) break;
    picture.keep = wanted;
  }
  for (let i = 0; i < scene.count; i++) where[scene.node[i]] = i;
  if (flat) addAskedNodes(app, flat, scene, where);
  else anchorNearMiddle(camera, scene);
  picture.arcs = app.showsIllness || app.highlight ? redArcs(app) : [];
  picture.extra = flat ? [] : otherEdges(app);
}

// Radius of a dot in pixels: large subtrees and what is near the middle are larger.
/** @param {Tree} tree @param {number} node @param {number} scale @param {Camera} camera */
function dotRadius(tree, node, scale, camera) {
  const fade = Math.sqrt(Math.min(1, (2 * scale) / camera.baseRadius));
  const size = camera.isFlat ? 1.6 + 0.22 * Math.log2(tree.size[node]) : 2.1 + 0.52 * Math.log2(tree.size[node]);
  return Math.max(0.55, size * fade);
}

/** @param {Tree} tree @param {number} node @param {number} scale @param {Camera} camera */
function edgeWidth(tree, node, scale, camera) {
  const fade = Math.sqrt(Math.min(1, (2 * scale) / camera.baseRadius));
  return Math.max(0.35, (0.8 + 0.17 * Math.log2(tree.size[node])) * fade);
}

// How strong a thing is drawn: clear near the middle, faint at the rim.
/** @param {number} scale @param {Camera} camera */
function strength(scale, camera) {
  return Math.min(1, 0.3 + 0.7 * Math.sqrt(Math.min(1, (6 * scale) / camera.baseRadius)));
}

// Edges of a node with hundreds of children step back, or they would fill the disk with one colour.
/** @param {Tree} tree @param {number} node */
function airiness(tree, node) {
  const up = tree.parent[node];
  const siblings = tree.first[up + 1] - tree.first[up];
  return siblings < CROWD ? 1 : Math.max(0.25, (CROWD / siblings) ** (0.6 / (1 + 0.12 * Math.log2(tree.size[node]))));
}

// The ill pair of a node that is drawn on the edge to its parent, or -1.
/** @param {App} app @param {number} node */
function pairOnEdge(app, node) {
  if (!app.showsIllness) return -1;
  const { ill } = app.facts;
  for (let pair = ill.firstPair[node]; pair >= 0; pair = ill.nextPair[pair]) {
    if (ill.positive[pair] === app.tree.parent[node] && app.shownKinds[ill.kind[pair]]) return pair;
  }
  return -1;
}

// Red lines besides red edges: to positives that are not the parent, and dashed ones to offenders, near the middle.
/** @param {App} app @returns {Arc[]} */
function redArcs(app) {
  const { camera, picture, facts, highlight } = app;
  const { scene } = picture;
  /** @type {Arc[]} */
  const arcs = [];
  const near = [];
  if (app.showsIllness && !app.flat) {
    for (let i = 0; i < scene.count; i++) {
      if (scene.scale[i] > 0.13 * camera.baseRadius && facts.ill.firstPair[scene.node[i]] >= 0) near.push(i);
    }
    near.sort((a, b) => scene.scale[b] - scene.scale[a]);
  }
  const shown = new Set(highlight ? [highlight.pair] : []);
  if (highlight) addPair(app, highlight.pair, arcs, true);
  for (const place of near.slice(0, MOST_OFFENDERS)) {
    const pair = facts.ill.firstPair[scene.node[place]];
    if (!shown.has(pair) && app.shownKinds[facts.ill.kind[pair]]) addPair(app, pair, arcs, false);
    shown.add(pair);
  }
  return arcs;
}

/** @param {App} app @param {number} pair @param {Arc[]} arcs @param {boolean} isStrong */
function addPair(app, pair, arcs, isStrong) {
  const { tree, facts } = app;
  const { node, positive, offender, kind } = facts.ill;
  const from = placeOf(app, node[pair]);
  const to = placeOf(app, positive[pair]);
  const wrong = placeOf(app, offender[pair]);
  if (isStrong || tree.parent[node[pair]] !== positive[pair]) {
    arcs.push({ from, to, kind: kind[pair], isDashed: false, isStrong });
  }
  arcs.push({ from, to: wrong, kind: kind[pair], isDashed: true, isStrong });
}

// Where a node is in the disk, in the scene or beyond what it shows.
/** @param {App} app @param {number} node @returns {Point} */
function placeOf(app, node) {
  const { scene, where } = app.picture;
  const i = where[node];
  if (i >= 0) return [scene.x[i], scene.y[i]];
  if (app.flat) return flatPlace(app.flat, node);
  return imageOfCentre(frameOf(app.tree, app.camera, node));
}

// Edges to further parents of a node that has several.
/** @param {App} app @returns {[number, number][]} */
function otherEdges(app) {
  const { tree, picture } = app;
  /** @type {[number, number][]} */
  const edges = [];
  const { otherChild, otherParent } = tree;
  for (let i = 0; i < otherChild.length && edges.length < 400; i++) {
    const [a, b] = [picture.where[otherChild[i]], picture.where[otherParent[i]]];
    if (a >= 0 && b >= 0) edges.push([a, b]);
  }
  return edges;
}

// Colours of all nodes under the chosen colouring and theme, four bytes each, ready to be copied.
/** @param {App} app */
function refreshPalette(app) {
  const colouring = app.colourings[app.colouring];
  app.palette = colouring.palette(app.theme);
}

/** @param {App} app @param {number} node */
function nodeColor(app, node) {
  return app.palette[app.colourings[app.colouring].index[node]];
}

// ---- the clock ----

/** @param {App} app */
function startClock(app) {
  let isAsked = false;
  let lastMotion = 0;
  let lastFrame = 0;
  let timer = 0;

  /** @param {number} now */
  function frame(now) {
    isAsked = false;
    let isMoving = now - lastMotion < REST_AFTER || app.isDragging;
    if (isFlying(app)) {
      advanceView(app, now);
      isMoving = true;
      lastMotion = now;
    }
    if (isMoving && now - lastFrame < 400) adapt(now - lastFrame);
    lastFrame = now;
    draw(app, !isMoving);
    app.frames++;
    if (isFlying(app)) ask();
    else if (isMoving) {
      clearTimeout(timer);
      timer = setTimeout(ask, REST_AFTER + 20);
    }
  }

  // Slow machines see less at the rim while things move, and everything at rest.
  /** @param {number} interval */
  function adapt(interval) {
    const { picture } = app;
    if (interval > 30) picture.coarseness = Math.min(8, picture.coarseness * Math.min(1.6, interval / 27));
    else if (interval < 22) picture.coarseness = Math.max(1, picture.coarseness * 0.97);
  }

  function ask() {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(frame);
  }

  app.redraw = ask;
  app.moved = () => {
    lastMotion = performance.now();
    ask();
  };
}

/** @param {App} app @param {boolean} isFine */
function draw(app, isFine) {
  look(app, isFine);
  placeDisk(app);
  app.renderer.draw(app);
  drawOverlay(app);
}
