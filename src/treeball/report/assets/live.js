'use strict';
// Asks for the state of the training a few times a second, glides the nodes to their new places and draws.

/**
 * @template {string} Id
 * @param {Id} id one that live.html has
 * @returns {Id extends keyof PageElements ? PageElements[Id] : HTMLElement}
 */
const $ = (id) => /** @type {any} */ (document.getElementById(id));
const GRID = 10000, POLL = 350, GLIDE = 450, KINDS = ['capacity', 'intra-subtree', 'inter-subtree'];
/** @type {Record<Phase, string>} */
const PHASES = {
  waiting: 'waiting for the first epoch', training: 'training', finished: 'The training is over',
  stopped: 'The training was stopped', lost: 'The program that trained has ended',
};
/** @type {Picture | null} */
let picture = null; // none before the first epoch
/** @type {{ x: number, y: number } | null} */
let pointer = null;
/** @type {Palette | null} */
let known = null; // the colours of the theme, once asked for
let version = -1, misses = 0, nextFrame = 0;

// ---- asking ----

async function ask() {
  let over = false;
  try {
    /** @type {Reply} */
    const reply = await (await fetch('state.json?have=' + version)).json();
    misses = 0;
    if (reply.phase) {
      if (reply.places) {
        const tree = picture ? picture.tree : describe(await (await fetch('tree.json')).json());
        show(tree, reply);
      }
      version = reply.version;
      tell(reply.phase);
      over = reply.phase === 'finished' || reply.phase === 'stopped';
    }
  } catch {
    misses += 1;
  }
  if (over) return;  // nothing more will come
  if (misses >= 3) tell('lost');
  setTimeout(ask, misses ? 1000 : POLL);
}

/** @param {TreeRecord} tree @param {State} state */
function show(tree, state) {
  const to = Float64Array.from(state.places, (x) => x / GRID);
  const from = picture ? picture.now.slice() : to.slice();
  picture = { tree, state, from, to, now: from.slice(), began: performance.now() };
  numbers(picture);
  cancelAnimationFrame(nextFrame); // of the glide before, which this one takes over
  nextFrame = requestAnimationFrame(glide);
}

// ---- words ----

/** @param {Phase} phase */
function tell(phase) {
  $('phase').dataset.phase = phase;
  const epoch = picture ? picture.state.epoch : 0;
  let words = PHASES[phase];
  if (phase === 'stopped') words += ` after epoch ${epoch.toLocaleString()}`;
  if (phase === 'lost' && epoch) words += `; this was epoch ${epoch.toLocaleString()}`;
  if ($('phase-words').textContent !== words) $('phase-words').textContent = words;
}

/** @param {TreeRecord} record */
function describe(record) {
  record.group.forEach((group, i) => { record.group[i] = group === record.groups.length - 1 ? 8 : group; });
  record.groups.forEach((name, i) => {
    const last = i === record.groups.length - 1;
    if (!last || record.group.includes(8)) $('groups').append(entry(last ? 'g8' : 'g' + i, name));
  });
  return record;
}

/** @param {string} mark @param {string} words */
function entry(mark, words) {
  const item = document.createElement('li'), dot = document.createElement('i');
  dot.className = mark;
  item.append(dot, words);
  return item;
}

/** @param {Picture} picture */
function numbers({ tree, state }) {
  const ill = state.ill.reduce((sum, count) => sum + count, 0);
  /** @param {number | null} value @param {number} digits */
  const fixed = (value, digits) => (value === null ? '–' : value.toFixed(digits));
  $('epoch').textContent = state.epoch.toLocaleString();
  $('loss').textContent = fixed(state.loss, 4);
  $('map').textContent = fixed(state.map, 3);
  $('radius').textContent = fixed(state.radius, 2);
  $('rate').textContent = state.rate === null ? '–' : state.rate >= 1e6 ? (state.rate / 1e6).toFixed(2) + 'M' : Math.round(state.rate / 1e3) + 'k';
  $('ill').textContent = (100 * ill / Math.max(state.pairs, 1)).toFixed(1) + ' %';
  $('kinds').replaceChildren(...KINDS.map((name, i) => entry('k' + i, `${name} ${state.ill[i].toLocaleString()}`)));
  $('about').textContent = `${state.method}, dimension ${state.dim}, ${state.nodes.toLocaleString()} nodes`;
  $('bar-done').style.width = `${100 * state.epoch / Math.max(state.epochs, 1)}%`;
  $('bar').setAttribute('aria-valuemax', String(state.epochs));
  $('bar').setAttribute('aria-valuenow', String(state.epoch));
  const notes = [];
  if (state.dim > 2) notes.push(`The picture is the principal plane of ${state.dim} dimensions; every number is that of the vectors.`);
  if (tree.name.length < state.nodes) notes.push(`Shown are the ${tree.name.length.toLocaleString()} nodes with the largest subtrees.`);
  if (state.sampled) notes.push(`MAP and ill pairs are those of ${state.sampled.toLocaleString()} sampled nodes.`);
  $('note').textContent = notes.join(' ');
  document.title = `${state.epoch.toLocaleString()} / ${state.epochs.toLocaleString()} – ${document.querySelector('h1')?.textContent}`;
}

// ---- drawing ----

/** @param {number} time */
function glide(time) {
  if (!picture) return;
  const { from, to, now, began } = picture;
  const part = Math.min(1, Math.max(0, time - began) / GLIDE), ease = part * part * (3 - 2 * part);
  for (let i = 0; i < now.length; i++) now[i] = from[i] + (to[i] - from[i]) * ease;
  draw();
  if (part < 1) nextFrame = requestAnimationFrame(glide);
}

/** @param {HTMLCanvasElement} canvas @returns {[CanvasRenderingContext2D, number, number]} */
function sheet(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('this browser gives no canvas to draw on');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, box.width, box.height);
  return [pen, box.width, box.height];
}

/** @returns {Palette} */
function palette() {
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const get = (name) => style.getPropertyValue('--' + name).trim();
  return {
    disk: get('disk'), rim: get('rim'), line: get('line'), faint: get('faint'), curve: get('curve'),
    kinds: [0, 1, 2].map((i) => get('kind-' + i)), groups: [0, 1, 2, 3, 4, 5, 6, 7, 8].map((i) => get('group-' + i)),
  };
}

function draw() {
  const colours = known = known || palette();
  drawDisk(colours);
  if (!picture) return;
  drawIllness(picture.state, colours);
  drawLoss(picture.state, colours);
}

/** @param {Palette} colours */
function drawDisk(colours) {
  const [pen, width, height] = sheet($('disk'));
  const radius = Math.max(10, Math.min(width, height) / 2 - 3), x0 = width / 2, y0 = height / 2;
  pen.fillStyle = colours.disk; pen.strokeStyle = colours.rim; pen.lineWidth = 1;
  pen.beginPath(); pen.arc(x0, y0, radius, 0, 2 * Math.PI); pen.fill(); pen.stroke();
  if (!picture) return;
  const { tree, state, now } = picture;
  const n = tree.parent.length, thin = Math.max(0.35, Math.min(1.2, 22 / Math.sqrt(n)));
  pen.globalAlpha = 0.55; pen.lineWidth = thin;
  for (let group = 0; group < 9; group++) {
    pen.strokeStyle = colours.groups[group];
    pen.beginPath();
    for (let i = 0; i < n; i++) if (tree.group[i] === group && tree.parent[i] >= 0) edge(pen, picture, i, tree.parent[i], x0, y0, radius);
    pen.stroke();
  }
  pen.globalAlpha = 0.9; pen.lineWidth = Math.max(0.5, 1.3 * thin);
  const ill = state.ill_pairs;
  for (let kind = 0; kind < 3; kind++) {
    pen.strokeStyle = colours.kinds[kind];
    pen.beginPath();
    for (let i = 0; i < ill.length; i += 3) if (ill[i + 2] === kind) edge(pen, picture, ill[i], ill[i + 1], x0, y0, radius);
    pen.stroke();
  }
  pen.globalAlpha = 1;
  for (let i = n - 1; i >= 0; i--) {
    pen.fillStyle = colours.groups[tree.group[i]];
    pen.beginPath();
    pen.arc(x0 + radius * now[2 * i], y0 - radius * now[2 * i + 1], (0.9 + 0.42 * tree.size[i]) * Math.sqrt(thin), 0, 2 * Math.PI);
    pen.fill();
  }
  hover(picture, x0, y0, radius);
}

// A geodesic from u to v: its point at the share t of the turn is u + (v - u) sin(t phi) / sin(phi) exp(i (1 - t) phi).
/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Picture} picture
 * @param {number} a
 * @param {number} b
 * @param {number} x0
 * @param {number} y0
 * @param {number} radius
 */
function edge(pen, { state, now }, a, b, x0, y0, radius) {
  const ux = now[2 * a], uy = now[2 * a + 1], vx = now[2 * b], vy = now[2 * b + 1];
  pen.moveTo(x0 + radius * ux, y0 - radius * uy);
  const phi = state.flat ? 0 : Math.atan2(ux * vy - uy * vx, 1 - ux * vx - uy * vy), dx = vx - ux, dy = vy - uy;
  const sine = Math.sin(phi);
  // As many pieces as keep the polyline within a third of a pixel of the arc.
  const pieces = sine ? Math.min(64, Math.ceil(Math.abs(phi) * Math.sqrt(radius * Math.hypot(dx, dy) / Math.abs(sine)))) : 1;
  for (let k = 1; k < pieces; k++) {
    const t = k / pieces, share = Math.sin(t * phi) / sine, c = Math.cos((1 - t) * phi), s = Math.sin((1 - t) * phi);
    pen.lineTo(x0 + radius * (ux + share * (dx * c - dy * s)), y0 - radius * (uy + share * (dx * s + dy * c)));
  }
  pen.lineTo(x0 + radius * vx, y0 - radius * vy);
}

/** @param {Picture} picture @param {number} x0 @param {number} y0 @param {number} radius */
function hover({ tree, now }, x0, y0, radius) {
  const label = $('hover');
  label.hidden = true;
  if (!pointer) return;
  let best = -1, least = 144;
  for (let i = 0; i < tree.parent.length; i++) {
    const dx = x0 + radius * now[2 * i] - pointer.x, dy = y0 - radius * now[2 * i + 1] - pointer.y;
    if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = i; }
  }
  if (best < 0) return;
  label.textContent = tree.name[best];
  label.style.left = `${x0 + radius * now[2 * best] + 18}px`;
  label.style.top = `${y0 - radius * now[2 * best + 1] + 18}px`;
  label.hidden = false;
}

// ---- curves ----

/**
 * @param {HTMLCanvasElement} canvas
 * @param {State} state
 * @param {Palette} colours
 * @param {number} high
 * @param {(value: number) => string} form
 */
function frame(canvas, state, colours, high, form) {
  const [pen, width, height] = sheet(canvas), left = 38, foot = 16, top = 5;
  pen.font = '11px system-ui, sans-serif'; pen.textAlign = 'right'; pen.textBaseline = 'middle';
  for (let i = 0; i <= 2; i++) {
    const y = top + (height - foot - top) * (1 - i / 2);
    pen.strokeStyle = colours.line; pen.lineWidth = 1;
    pen.beginPath(); pen.moveTo(left, y); pen.lineTo(width, y); pen.stroke();
    pen.fillStyle = colours.faint; pen.fillText(form(high * i / 2), left - 6, y);
  }
  const last = Math.max(state.epochs, state.epoch, 1);
  pen.textBaseline = 'bottom'; pen.textAlign = 'left'; pen.fillText('0', left, height);
  pen.textAlign = 'right'; pen.fillText(last.toLocaleString(), width, height);
  /** @param {number} epoch */
  const x = (epoch) => left + (width - left) * epoch / last;
  /** @param {number} value */
  const y = (value) => top + (height - foot - top) * (1 - value / high);
  return { pen, x, y };
}

/** @param {State} state @param {Palette} colours */
function drawIllness(state, colours) {
  const points = state.history, high = Math.max(0.04, ...points.map((p) => p[3] + p[4] + p[5]));
  const { pen, x, y } = frame($('illness'), state, colours, high, (value) => `${Math.round(100 * value)} %`);
  for (let kind = 2; kind >= 0; kind--) {  // the whole stack first, then less of it
    pen.fillStyle = colours.kinds[kind];
    pen.beginPath();
    pen.moveTo(x(points[0][0]), y(0));
    for (const [epoch, , , ...shares] of points) pen.lineTo(x(epoch), y(shares.slice(0, kind + 1).reduce((sum, share) => sum + share, 0)));
    pen.lineTo(x(points[points.length - 1][0]), y(0));
    pen.fill();
  }
}

/** @param {State} state @param {Palette} colours */
function drawLoss(state, colours) {
  const points = state.history.flatMap(([epoch, loss]) => (loss === null ? [] : [{ epoch, loss }]));
  if (!points.length) return;
  const high = Math.max(1e-9, ...points.map(({ loss }) => loss));
  const { pen, x, y } = frame($('losses'), state, colours, high, (value) => (high >= 1 ? value.toFixed(1) : value.toPrecision(2)));
  pen.strokeStyle = colours.curve; pen.lineWidth = 1.8; pen.lineJoin = 'round';
  pen.beginPath();
  for (const { epoch, loss } of points) pen.lineTo(x(epoch), y(loss));
  pen.stroke();
  const last = points[points.length - 1];
  pen.fillStyle = colours.curve;
  pen.beginPath(); pen.arc(x(last.epoch), y(last.loss), 3, 0, 2 * Math.PI); pen.fill();
}

// ---- the window ----

const redraw = () => requestAnimationFrame(draw);
window.addEventListener('resize', redraw);
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { known = null; redraw(); });
$('disk').addEventListener('pointermove', (event) => { pointer = { x: event.offsetX, y: event.offsetY }; redraw(); });
$('disk').addEventListener('pointerleave', () => { pointer = null; redraw(); });
redraw();
ask();
