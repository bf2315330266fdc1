// Names beside dots, as many as fit without touching, and rings around the nodes in focus and under the pointer.

const FONT = 'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", sans-serif';
const SMALLEST_TEXT = 10.5;
const AIR = 3; // pixels kept free around a label
const widths = new Map();

/** @param {CanvasRenderingContext2D} context @param {string} text @param {string} font */
function textWidth(context, text, font) {
  const key = `${font}|${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 5000) widths.clear();
    context.font = font;
    width = context.measureText(text).width;
    widths.set(key, width);
  }
  return width;
}

/** @param {number} size @param {boolean} isBold */
function fontOf(size, isBold) {
  return `${isBold ? 600 : 450} ${size}px ${FONT}`;
}

// Choose and place labels: [{node, text, x, y, size, isBold, alpha, side}], (x, y) the left end of the base line.
/** @param {App} app @param {CanvasRenderingContext2D} context @param {number} most @returns {Label[]} */
function placeLabels(app, context, most) {
  const { camera, tree, picture, area } = app;
  const { scene } = picture;
  /** @type {Box[]} */
  const taken = app.flat ? [legendBox()] : [];
  if (app.marks.band) taken.push(app.marks.band);
  /** @type {Label[]} */
  const labels = [];
  const before = app.labelSides;
  app.labelSides = new Map();
  for (const { place } of candidates(app, 4 * most)) {
    if (labels.length >= most) break;
    const node = scene.node[place];
    const isFocus = node === app.focus;
    const name = labelOf(tree, node);
    if (!name) continue;
    const text = name + hiddenMark(app, node);
    const near = Math.min(1, (2 * scene.scale[place]) / camera.baseRadius);
    const growth = camera.isFlat ? 1.5 : isFocus ? 5 : 3.5;
    const size = Math.round(2 * (SMALLEST_TEXT + growth * near)) / 2;
    const isBold = isFocus || node === app.hovered;
    const width = textWidth(context, text, fontOf(size, isBold));
    const dot = dotRadius(tree, node, scene.scale[place], camera) + (isFocus ? 4 : 0);
    const x = camera.x + scene.x[place] * camera.radius;
    const y = camera.y - scene.y[place] * camera.radius;
    for (const side of sidesFor(app, place, before.get(node))) {
      const box = boxAt(side, x, y, dot + 4, width, size);
      if (box[0] < area.left || box[2] > area.right || box[1] < area.top || box[3] > area.bottom) continue;
      if (taken.some((other) => meets(box, other))) continue;
      taken.push(box, [x - dot, y - dot, x + dot, y + dot]);
      const isOld = before.has(node);
      labels.push({ node, text, size, isBold, x: box[0], y: box[3] - 0.24 * size, alpha: isOld || picture.isFine ? 1 : 0.7 });
      app.labelSides.set(node, side);
      break;
    }
  }
  return labels;
}

// Nodes worth a name, the most important first: in focus, on the way to it, near the middle, with much below them.
/** @param {App} app @param {number} most */
function candidates(app, most) {
  const { camera, tree, picture } = app;
  const { scene } = picture;
  const onPath = new Set(pathTo(tree, app.focus));
  const found = [];
  for (let place = 0; place < scene.count; place++) {
    const scale = scene.scale[place];
    const node = scene.node[place];
    const isLeaf = tree.size[node] === 1;
    const isMarked = app.highlight !== null && app.highlight.nodes.includes(node);
    const isAsked = isMarked || node === app.focus || node === app.hovered;
    if (!isAsked && (camera.isFlat ? isMadeUp(tree, node) : scale < (isLeaf ? 0.07 : 0.035) * camera.baseRadius)) continue;
    if (node === 0 && summary.virtual_root && !isAsked) continue;
    let worth = Math.log(scale) + 0.16 * Math.log2(tree.size[node]);
    if (camera.isFlat) worth -= 0.01 * tree.keep[node]; // of many alike, some everywhere
    if (isAsked) worth += 100;
    if (onPath.has(node)) worth += 1;
    if (app.labelSides.has(node)) worth += 0.35; // what is shown stays, or names would flicker
    found.push({ place, worth });
  }
  return found.sort((a, b) => b.worth - a.worth).slice(0, most);
}

// Whether the reader of a phylogeny named a node after the tips below it: such names say nothing where these are seen.
/** @param {Tree} tree @param {number} node */
function isMadeUp(tree, node) {
  return tree.size[node] > 1 && /^<.* \+ \d+>/su.test(tree.names.of(node));
}

// Right, below, left, above: those that lead on from the parent first, and the side that was used before.
/** @param {App} app @param {number} place @param {number | undefined} used @returns {number[]} */
function sidesFor(app, place, used) {
  const { scene } = app.picture;
  const link = scene.link[place];
  // Tips have their names beside them, and other nodes above the line that leads to them.
  if (app.flat?.kind === 'rectangular') {
    const node = scene.node[place];
    if (app.tree.size[node] > 1) return [3, 1, 2];
    return node === app.focus || node === app.hovered ? [0, 3, 1, 2] : [0];
  }
  let dx = 0.3;
  let dy = -1;
  if (link >= 0 && scene.node[place] !== app.focus) {
    dx = scene.x[place] - scene.x[link];
    dy = scene.y[place] - scene.y[link];
  }
  const far = Math.hypot(dx, dy) || 1;
  const sides = [[0, dx], [1, -0.85 * dy], [2, -dx], [3, 0.85 * dy]].map(([side, value]) => [side, value / far]);
  sides.sort((a, b) => b[1] - a[1]);
  const order = sides.slice(0, 3).map(([side]) => side);
  return used === undefined ? order : [used, ...order.filter((side) => side !== used)];
}

/**
 * @param {number} side
 * @param {number} x
 * @param {number} y
 * @param {number} away
 * @param {number} width
 * @param {number} size
 * @returns {Box}
 */
function boxAt(side, x, y, away, width, size) {
  const high = 1.15 * size;
  if (side === 0) return [x + away, y - high / 2, x + away + width, y + high / 2];
  if (side === 2) return [x - away - width, y - high / 2, x - away, y + high / 2];
  const top = side === 1 ? y + away : y - away - high;
  return [x - width / 2, top, x + width / 2, top + high];
}

/** @param {Box} a @param {Box} b */
function meets(a, b) {
  return a[0] < b[2] + AIR && b[0] < a[2] + AIR && a[1] < b[3] + 1 && b[1] < a[3] + 1;
}

/** @param {CanvasRenderingContext2D} context @param {App} app @param {Label[]} labels */
function paintLabels(context, app, labels) {
  const { theme } = app;
  context.textBaseline = 'alphabetic';
  context.textAlign = 'left';
  context.lineJoin = 'round';
  for (const { text, x, y, size, isBold, alpha } of labels) {
    context.font = fontOf(size, isBold);
    context.globalAlpha = 0.9;
    context.lineWidth = 3.5;
    context.strokeStyle = theme.halo;
    context.strokeText(text, x, y);
    context.globalAlpha = alpha;
    context.fillStyle = theme.ink;
    context.fillText(text, x, y);
  }
  context.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} context @param {App} app */
function paintRings(context, app) {
  const { camera, tree, picture, theme } = app;
  const { scene, where } = picture;
  const nodes = new Set([app.focus, app.hovered, ...(app.highlight ? app.highlight.nodes : [])]);
  for (const node of nodes) {
    const place = node >= 0 ? where[node] : -1;
    if (place < 0) continue;
    const radius = dotRadius(tree, node, scene.scale[place], camera) + 3.5;
    context.lineWidth = node === app.focus ? 2 : 1.5;
    context.strokeStyle = theme.ink;
    context.globalAlpha = node === app.focus ? 0.9 : 0.6;
    context.beginPath();
    context.arc(camera.x + scene.x[place] * camera.radius, camera.y - scene.y[place] * camera.radius, radius, 0, 7);
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** @param {App} app */
function drawOverlay(app) {
  const { overlay } = app;
  const context = overlay.context;
  context.setTransform(app.pixelRatio, 0, 0, app.pixelRatio, 0, 0);
  context.clearRect(0, 0, overlay.width, overlay.height);
  const room = (app.area.right - app.area.left) * (app.area.bottom - app.area.top);
  const largest = app.flat ? 110 : 52;
  const most = Math.round(Math.min(app.isDragging ? 36 : largest, Math.max(10, room / (app.flat ? 5000 : 13000))));
  app.marks = scaleMarks(app);
  paintRings(context, app);
  app.labels = placeLabels(app, context, most);
  paintLabels(context, app, app.labels);
  paintMarks(context, app, app.marks);
}
