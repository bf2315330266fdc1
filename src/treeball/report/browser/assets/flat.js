// The hierarchy in the plane, every edge to scale of its length: rectangular (depth to the right, a row for each leaf) or
// radial (rows are directions). A layout has places in units of its own, and a view that brings these to the screen.

const MOST_MAGNIFIED = 30000; // times what shows the whole tree
const LEAST_MAGNIFIED = 0.5;
const TALLEST_ROW = 44; // pixels; a tree of three leaves need not fill the screen
const FLIGHT_MILLISECONDS = 450;
const MEASURED_LABELS = 300;

/** @param {Tree} tree @param {FlatParts} parts @param {FlatKind} kind @returns {Flat} */
function makeFlat(tree, { length, row }, kind) {
  const { n, parent } = tree;
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  const rows = summary.to_scale?.rows ?? 1;
  if (kind === 'rectangular') y[0] = row[0] / 2;
  for (let i = 1; i < n; i++) {
    const up = parent[i];
    if (kind === 'rectangular') {
      x[i] = x[up] + length[i];
      y[i] = row[i] / 2;
    } else {
      const angle = (Math.PI * row[i]) / rows;
      x[i] = x[up] + length[i] * Math.cos(angle);
      y[i] = y[up] + length[i] * Math.sin(angle);
    }
  }
  return { kind, x, y, boxes: subtreeBoxes(parent, x, y), view: { x: 0, y: 0, sx: 1, sy: 1 }, least: { sx: 1, sy: 1 },
    isFitted: true, flight: null };
}

// Left, top, right and bottom of what is below each node, itself included.
/** @param {Ints} parent @param {Float64Array} x @param {Float64Array} y */
function subtreeBoxes(parent, x, y) {
  const boxes = new Float64Array(4 * x.length);
  for (let i = 0; i < x.length; i++) boxes.set([x[i], y[i], x[i], y[i]], 4 * i);
  for (let i = x.length - 1; i > 0; i--) {
    const up = 4 * parent[i];
    for (let k = 0; k < 2; k++) {
      boxes[up + k] = Math.min(boxes[up + k], boxes[4 * i + k]);
      boxes[up + 2 + k] = Math.max(boxes[up + 2 + k], boxes[4 * i + 2 + k]);
    }
  }
  return boxes;
}

// Where the legend is, in pixels of the stage; without extent where it is hidden.
/** @returns {Box} */
function legendBox() {
  const legend = byId('legend').getBoundingClientRect();
  const stage = byId('stage').getBoundingClientRect();
  return [legend.left - stage.left, legend.top - stage.top, legend.right - stage.left, legend.bottom - stage.top];
}

// Where the drawing may be: beside the legend where there is room for both, above it elsewhere.
/** @param {App} app @returns {Box} */
function flatArea({ area, width, height }) {
  const [, legendTop, legendRight, legendBottom] = legendBox();
  const isBeside = area.right - area.left > 620;
  const left = isBeside ? Math.max(area.left, legendRight) + 8 : area.left + 10;
  const bottom = isBeside || legendBottom === legendTop ? area.bottom : Math.min(area.bottom, legendTop - 4);
  return [left, area.top + 6, Math.max(left + 60, Math.min(width, area.right) - 8), Math.max(100, Math.min(height, bottom) - 4)];
}

// The view that shows all of what is below `top`, with room for names.
/** @param {App} app @param {Flat} flat @param {number} top @returns {FlatView} */
function wholeView(app, flat, top) {
  const [left, above, right, below] = flatArea(app);
  const [x0, y0, x1, y1] = flat.boxes.subarray(4 * top, 4 * top + 4);
  const names = Math.min(0.3 * (right - left), widestLabel(app, top) + 12);
  if (flat.kind === 'rectangular') {
    const wide = right - left - names - 12;
    const high = below - above - AXIS_ROOM - 12;
    const sx = wide / (x1 - x0 || 1);
    const rows = y1 - y0 + 1;
    const sy = Math.min(TALLEST_ROW, high / rows);
    return { x: left + 10 - sx * x0, y: above + 6 + (high - sy * rows) / 2 - sy * (y0 - 0.5), sx, sy };
  }
  const aside = Math.min(names, 90);
  const wide = right - left - 2 * aside;
  const high = below - above - BAR_ROOM - 24;
  const scale = Math.min(wide / (x1 - x0 || 1e-9), high / (y1 - y0 || 1e-9), x1 > x0 || y1 > y0 ? Infinity : 1);
  return { x: left + aside + wide / 2 - (scale * (x0 + x1)) / 2, y: above + 12 + high / 2 - (scale * (y0 + y1)) / 2, sx: scale, sy: scale };
}

// Pixels of the longest name of a tip below `top`, of the first few hundred.
/** @param {App} app @param {number} top */
function widestLabel(app, top) {
  const { tree } = app;
  const { first } = tree;
  let widest = 30;
  let measured = 0;
  // What is below a node is a range of each level.
  for (let [begin, end] = [top, top + 1]; begin < end; [begin, end] = [first[begin], first[end]]) {
    for (let i = begin; i < end && measured < MEASURED_LABELS; i++) {
      if (first[i] !== first[i + 1]) continue;
      measured++;
      widest = Math.max(widest, textWidth(app.overlay.context, labelOf(tree, i), fontOf(12, false)));
    }
  }
  return widest;
}

// Show the whole at the size of the window, unless somebody moved it.
/** @param {App} app */
function fitFlat(app) {
  const { flat } = app;
  if (!flat) return;
  const whole = wholeView(app, flat, app.top);
  flat.least = { sx: whole.sx, sy: whole.sy };
  if (!flat.isFitted) return;
  if (flat.flight) flat.flight.to = whole;
  else flat.view = whole;
}

/** @param {Flat} flat @param {Point} from @param {Point} to */
function dragFlat(flat, from, to) {
  flat.flight = null;
  flat.isFitted = false;
  flat.view.x += to[0] - from[0];
  flat.view.y += to[1] - from[1];
}

// Magnify; what is under (px, py) stays there. Rows alone grow where `rowsOnly` says so and the layout has rows.
/** @param {Flat} flat @param {number} factor @param {number} px @param {number} py @param {boolean} rowsOnly */
function zoomFlat(flat, factor, px, py, rowsOnly) {
  const { view, least } = flat;
  /** @param {number} scale @param {number} whole */
  const bounded = (scale, whole) => Math.min(MOST_MAGNIFIED * whole, Math.max(LEAST_MAGNIFIED * whole, scale));
  const sy = bounded(view.sy * factor, least.sy);
  const sx = rowsOnly && flat.kind === 'rectangular' ? view.sx : bounded(view.sx * factor, least.sx);
  view.x = px - ((px - view.x) * sx) / view.sx;
  view.y = py - ((py - view.y) * sy) / view.sy;
  view.sx = sx;
  view.sy = sy;
  flat.flight = null;
  flat.isFitted = false;
}

// Bring a node into sight: not at all where it is seen already, else to the middle.
/** @param {App} app @param {Flat} flat @param {number} node @param {boolean} isInstant */
function showInFlat(app, flat, node, isInstant) {
  const [left, above, right, below] = flatArea(app);
  const view = flat.flight ? flat.flight.to : flat.view;
  const px = view.x + view.sx * flat.x[node];
  const py = view.y + view.sy * flat.y[node];
  const foot = flat.kind === 'rectangular' ? AXIS_ROOM : BAR_ROOM;
  if (px >= left && px <= right && py >= above && py <= below - foot) return;
  const target = { ...view, x: view.x + (left + right) / 2 - px, y: view.y + (above + below - foot) / 2 - py };
  flyFlat(app, flat, target, isInstant);
  flat.isFitted = false;
}

/** @param {App} app @param {Flat} flat @param {FlatView} target @param {boolean} isInstant */
function flyFlat(app, flat, target, isInstant) {
  if (isInstant) flat.view = target;
  flat.flight = isInstant ? null : { from: { ...flat.view }, to: target, begin: performance.now() };
  app.picture.isFine = false;
}

/** @param {Flat} flat @param {number} now */
function advanceFlat(flat, now) {
  if (!flat.flight) return;
  const { from, to, begin } = flat.flight;
  const time = Math.min(1, Math.max(0, (now - begin) / FLIGHT_MILLISECONDS));
  const t = time * time * (3 - 2 * time);
  /** @param {keyof FlatView} key */
  const between = (key) => from[key] + (to[key] - from[key]) * t;
  flat.view = time < 1 ? { x: between('x'), y: between('y'), sx: between('sx'), sy: between('sy') } : { ...to };
  if (time >= 1) flat.flight = null;
}
