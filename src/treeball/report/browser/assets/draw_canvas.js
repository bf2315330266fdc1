// What is to be drawn, as plain lists that WebGL, Canvas and SVG share; and the renderer for browsers without WebGL2.

/** @type {Record<keyof DrawLists, DrawList | null>} */
const lists = { edges: null, solid: null, dashed: null, dots: null };

/** @param {keyof DrawLists} kind @param {number} capacity @param {number} width @returns {DrawList} */
function emptyList(kind, capacity, width) {
  let list = lists[kind];
  if (!list || list.capacity < capacity) {
    list = { capacity: 2 * capacity, data: new Float32Array(2 * capacity * width), color: new Uint8Array(8 * capacity),
      count: 0 };
    lists[kind] = list;
  }
  list.count = 0;
  return list;
}

/**
 * @param {DrawList} list
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 * @param {number} w0
 * @param {number} w1
 * @param {Color} color
 * @param {number} alpha
 */
function addEdge(list, x0, y0, x1, y1, w0, w1, color, alpha) {
  const i = list.count++;
  list.data.set([x0, y0, x1, y1, w0, w1], 6 * i);
  setColor(list, i, color, alpha);
}

/** @param {DrawList} list @param {number} i @param {Color} color @param {number} alpha */
function setColor(list, i, color, alpha) {
  list.color[4 * i] = color[0];
  list.color[4 * i + 1] = color[1];
  list.color[4 * i + 2] = color[2];
  list.color[4 * i + 3] = Math.round(255 * alpha);
}

// Edges (plain, red, dashed) and dots of the picture, far ones first so that near ones lie on top.
/** @param {App} app @returns {DrawLists} */
function collect(app) {
  const { tree, camera, picture, theme } = app;
  const { scene } = picture;
  const edges = emptyList('edges', 2 * scene.count + picture.extra.length, 6);
  const solid = emptyList('solid', 2 * scene.count + picture.arcs.length, 6);
  const dashed = emptyList('dashed', picture.arcs.length + 1, 6);
  const dots = emptyList('dots', scene.count, 3);
  const kinds = theme.kinds.map(rgb);
  const faint = rgb(theme.faint);
  const calm = app.highlight ? 0.4 : 1; // the others step back behind the pair that is being looked at
  for (const [a, b] of picture.extra) {
    const alpha = 0.35 * strength(Math.max(scene.scale[a], scene.scale[b]), camera);
    addEdge(edges, scene.x[a], scene.y[a], scene.x[b], scene.y[b], 0.8, 0.8, faint, alpha);
  }
  for (let i = 0; i < scene.count; i++) {
    const node = scene.node[i];
    const link = scene.link[i];
    const color = nodeColor(app, node);
    const scale = scene.scale[i];
    const isAddedRoot = node === 0 && summary.virtual_root;
    if (link >= 0 && tree.parent[node] === 0 && summary.virtual_root) {
      for (const [x0, y0, x1, y1] of linesTo(app, i)) addEdge(edges, x0, y0, x1, y1, 0.7, 0.7, faint, 0.3);
    } else if (link >= 0) {
      const pair = pairOnEdge(app, node);
      const isIll = pair >= 0;
      const w0 = edgeWidth(tree, node, scene.scale[link], camera);
      const w1 = edgeWidth(tree, node, scale, camera);
      const air = camera.isFlat ? 1 : airiness(tree, node);
      const power = Math.sqrt(strength(scale, camera) * strength(scene.scale[link], camera)) * air;
      for (const [x0, y0, x1, y1] of linesTo(app, i)) {
        addEdge(isIll ? solid : edges, x0, y0, x1, y1, isIll ? w0 + 0.5 : w0, isIll ? w1 + 0.3 : w1,
          isIll ? kinds[app.facts.ill.kind[pair]] : color, (isIll ? 0.9 : theme.edge) * power * calm);
      }
    }
    const at = dots.count++;
    dots.data[3 * at] = scene.x[i];
    dots.data[3 * at + 1] = scene.y[i];
    dots.data[3 * at + 2] = isAddedRoot ? 2 : dotRadius(tree, node, scale, camera);
    setColor(dots, at, isAddedRoot ? faint : color, strength(scale, camera));
  }
  for (const { from, to, kind, isDashed, isStrong } of picture.arcs) {
    const width = isStrong ? 2.6 : 1.2;
    addEdge(isDashed ? dashed : solid, from[0], from[1], to[0], to[1], width, width, kinds[kind], isStrong ? 1 : 0.75 * calm);
  }
  return { edges, solid, dashed, dots };
}

// The lines of the edge to a place in the scene: one, or two that meet at a right angle.
/** @param {App} app @param {number} place @returns {Box[]} */
function linesTo(app, place) {
  const { scene } = app.picture;
  const link = scene.link[place];
  if (app.flat?.kind === 'rectangular') return elbow(app, app.flat, place);
  return [[scene.x[link], scene.y[link], scene.x[place], scene.y[place]]];
}

// How far, in pixels, an arc leaves its chord: not at all in a layout to scale.
/** @param {Camera} camera @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 @param {number} radius */
function bulge(camera, x0, y0, x1, y1, radius) {
  if (camera.isFlat) return 0;
  const chord = Math.hypot(x1 - x0, y1 - y0) * radius;
  return Math.abs(chord * Math.tan(halfTurn(x0, y0, x1, y1) / 2)) / 2;
}

/** @param {HTMLCanvasElement} canvas @returns {Renderer} */
function makeCanvasRenderer(canvas) {
  const context = penOf(canvas);
  return {
    kind: 'canvas',
    resize(width, height, ratio) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    },
    draw(app) {
      context.setTransform(app.pixelRatio, 0, 0, app.pixelRatio, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      paint(context, app, collect(app));
    },
  };
}

/** @param {CanvasRenderingContext2D} context @param {App} app @param {DrawLists} lists */
function paint(context, app, { edges, solid, dashed, dots }) {
  const { camera } = app;
  context.lineCap = 'round';
  paintEdges(context, camera, edges);
  paintEdges(context, camera, solid);
  context.setLineDash([5.5, 4]);
  paintEdges(context, camera, dashed);
  context.setLineDash([]);
  for (const { color, members } of alike(dots, () => 0)) {
    context.fillStyle = color;
    context.beginPath();
    for (const i of members) {
      const x = camera.x + dots.data[3 * i] * camera.radius;
      const y = camera.y - dots.data[3 * i + 1] * camera.radius;
      const radius = dots.data[3 * i + 2];
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    }
    context.fill();
  }
}

/** @param {CanvasRenderingContext2D} context @param {Camera} camera @param {DrawList} list */
function paintEdges(context, camera, list) {
  const { data } = list;
  for (const { color, width, members } of alike(list, (i) => (data[6 * i + 4] + data[6 * i + 5]) / 2)) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    for (const i of members) traceGeodesic(context, camera, data[6 * i], data[6 * i + 1], data[6 * i + 2], data[6 * i + 3]);
    context.stroke();
  }
}

// Things of one colour and width, to within what the eye tells apart, are painted in one go; the faint ones first.
/**
 * @param {DrawList} list
 * @param {(i: number) => number} widthOf
 *
 */
function alike(list, widthOf) {
  const groups = new Map();
  const colors = new Uint32Array(list.color.buffer);
  for (let i = 0; i < list.count; i++) {
    const alpha = Math.round(list.color[4 * i + 3] / 16);
    const width = Math.round(5 * widthOf(i));
    const key = ((colors[i] & 0xffffff) * 32 + alpha) * 128 + Math.min(127, width);
    const members = groups.get(key);
    if (members) members.push(i);
    else groups.set(key, [i]);
  }
  const styled = [...groups.values()].map((members) => {
    const i = members[0];
    const [r, g, b, a] = list.color.subarray(4 * i, 4 * i + 4);
    return { color: `rgba(${r},${g},${b},${Math.round(a / 16) / 16})`, width: Math.max(0.3, widthOf(i)), alpha: a, members };
  });
  return styled.sort((one, other) => one.alpha - other.alpha);
}

// A true circular arc; a line where it cannot be told from one.
/**
 * @param {CanvasRenderingContext2D} context
 * @param {Camera} camera
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 */
function traceGeodesic(context, camera, x0, y0, x1, y1) {
  /** @type {(x: number, y: number) => Point} */
  const at = (x, y) => [camera.x + x * camera.radius, camera.y - y * camera.radius];
  context.moveTo(...at(x0, y0));
  if (bulge(camera, x0, y0, x1, y1, camera.radius) < 0.3) {
    context.lineTo(...at(x1, y1));
    return;
  }
  const { cx, cy, radius, begin, end, isClockwise } = circleThrough(x0, y0, x1, y1);
  context.arc(...at(cx, cy), radius * camera.radius, -begin, -end, !isClockwise);
}

// The circle of a geodesic, in the disk with the second axis upwards; angles of its ends.
/** @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
function circleThrough(x0, y0, x1, y1) {
  const half = halfTurn(x0, y0, x1, y1);
  const chord = Math.hypot(x1 - x0, y1 - y0);
  const toCentre = -chord / (2 * Math.tan(half)); // along the left normal of the chord
  const cx = (x0 + x1) / 2 - ((y1 - y0) / chord) * toCentre;
  const cy = (y0 + y1) / 2 + ((x1 - x0) / chord) * toCentre;
  return {
    cx, cy, radius: Math.abs(chord / (2 * Math.sin(half))),
    begin: Math.atan2(y0 - cy, x0 - cx), end: Math.atan2(y1 - cy, x1 - cx), isClockwise: half > 0,
  };
}
