// What says how long an edge is: a scale bar of a round length, and below a rectangular tree an axis for the depth.

const AXIS_ROOM = 66; // pixels at the foot of a rectangular layout
const BAR_ROOM = 34; // at that of a radial one
const LONGEST_BAR = 150;
const BETWEEN_TICKS = 74;
const TICK = 5;
const MARK_TEXT = 11.5;

// The largest of 1, 2 and 5 times a power of ten that is not larger than `most`.
/** @param {number} most */
function roundBelow(most) {
  const power = 10 ** Math.floor(Math.log10(most) + 1e-9);
  const share = most / power;
  return (share >= 5 ? 5 : share >= 2 ? 2 : 1) * power;
}

// The smallest such number that is not smaller than `least`.
/** @param {number} least */
function roundAbove(least) {
  const below = roundBelow(least);
  if (below >= least * (1 - 1e-9)) return below;
  const power = 10 ** Math.floor(Math.log10(below) + 1e-9);
  return Math.round(below / power) === 2 ? 5 * power : 2 * below;
}

// A multiple of a round step in as many digits as tell it from its neighbours.
/** @param {number} value @param {number} step */
function roundText(value, step) {
  const power = Math.floor(Math.log10(step) + 1e-9);
  if (Math.abs(value) < step / 2) return '0';
  if (power <= 8 && power >= -6) return power < 0 ? value.toFixed(-power) : Math.round(value).toLocaleString('en');
  const digits = Math.floor(Math.log10(Math.abs(value)) + 1e-9) - power;
  return value.toExponential(Math.min(15, digits));
}

// Multiples of a round step from `low` to `high`, about `pixels` on the screen.
/** @param {number} low @param {number} high @param {number} pixels @param {number} least */
function roundTicks(low, high, pixels, least) {
  const step = Math.max(least, roundAbove(((high - low) * BETWEEN_TICKS) / Math.max(pixels, 1)));
  const values = [];
  const slack = 1e-6 * step;
  for (let i = Math.ceil((low - slack) / step); i * step <= high + slack && values.length < 100; i++) values.push(i * step);
  return { step, values };
}

/** @returns {ScaleMarks} */
function noMarks() {
  return { lines: [], texts: [], band: null, bar: null, ticks: [] };
}

// Lines and words, in pixels, of the bar and of the axis.
/** @param {App} app @returns {ScaleMarks} */
function scaleMarks(app) {
  const { flat } = app;
  const about = summary.to_scale;
  const marks = noMarks();
  if (!flat || !about || !(about.height > 0)) return marks;
  const [left, , right, below] = flatArea(app);
  const perUnit = flat.view.sx / about.height;
  const isRectangular = flat.kind === 'rectangular';
  const least = about.has_lengths ? 0 : 1;
  addBar(marks, right, below - (isRectangular ? AXIS_ROOM - 24 : 12), perUnit, least);
  if (isRectangular) {
    marks.band = [0, below - AXIS_ROOM + 2, app.width, app.height];
    addAxis(marks, flat.view, about, [left, right, below - 24], least);
  }
  return marks;
}

/** @param {ScaleMarks} marks @param {number} right @param {number} y @param {number} perUnit @param {number} least */
function addBar(marks, right, y, perUnit, least) {
  const length = Math.max(least, roundBelow(LONGEST_BAR / perUnit));
  const pixels = length * perUnit;
  if (pixels > 4 * LONGEST_BAR) return; // an edge is longer than the screen
  const from = right - pixels;
  marks.bar = { length, pixels };
  marks.lines.push([from, y, right, y], [from, y - TICK, from, y + TICK], [right, y - TICK, right, y + TICK]);
  marks.texts.push({ text: roundText(length, length), x: right - pixels / 2, y: y - 7, align: 'center' });
}

/**
 * @param {ScaleMarks} marks
 * @param {FlatView} view
 * @param {NonNullable<Summary['to_scale']>} about
 * @param {[left: number, right: number, y: number]} line
 * @param {number} least
 */
function addAxis(marks, view, about, [left, right, y], least) {
  const { height } = about;
  const from = Math.max(left, view.x);
  const to = Math.min(right, view.x + view.sx);
  if (to - from < 2) return;
  /** @param {number} px */
  const depthAt = (px) => ((px - view.x) / view.sx) * height;
  /** @param {number} value */
  const shown = (value) => (about.is_dated ? height - value : value);
  const ends = [shown(depthAt(from)), shown(depthAt(to))].sort((a, b) => a - b);
  const { step, values } = roundTicks(ends[0], ends[1], to - from, least);
  marks.lines.push([from, y, to, y]);
  for (const value of values) {
    const x = view.x + (shown(value) / height) * view.sx;
    marks.lines.push([x, y, x, y + TICK]);
    marks.texts.push({ text: roundText(value, step), x, y: y + 17, align: 'center' });
    marks.ticks.push(value);
  }
  const title = about.is_dated ? 'Before the tips' : about.has_lengths ? 'From the root' : 'Edges from the root';
  marks.texts.push({ text: title, x: from, y: y - 8, align: 'left' });
}

/** @param {CanvasRenderingContext2D} context @param {App} app @param {ScaleMarks} marks */
function paintMarks(context, app, { lines, texts, band }) {
  const { theme } = app;
  if (band) {
    context.globalAlpha = 0.9;
    context.fillStyle = theme.ground;
    context.fillRect(band[0], band[1], band[2] - band[0], band[3] - band[1]);
    context.globalAlpha = 1;
  }
  context.strokeStyle = theme.faint;
  context.lineWidth = 1.3;
  context.lineCap = 'butt';
  context.beginPath();
  for (const [x0, y0, x1, y1] of lines) {
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
  }
  context.stroke();
  context.font = fontOf(MARK_TEXT, false);
  context.textBaseline = 'alphabetic';
  context.lineJoin = 'round';
  context.lineWidth = 3;
  for (const { text, x, y, align } of texts) {
    context.textAlign = align;
    context.strokeStyle = theme.ground;
    context.strokeText(text, x, y);
    context.fillStyle = theme.faint;
    context.fillText(text, x, y);
  }
}

// The same as SVG.
/** @param {App} app @param {ScaleMarks} marks */
function svgMarks({ theme }, { lines, texts, band }) {
  /** @param {number} value */
  const number = (value) => String(Math.round(100 * value) / 100);
  const parts = band ? [`<rect x="${number(band[0])}" y="${number(band[1])}" width="${number(band[2] - band[0])}" `
    + `height="${number(band[3] - band[1])}" fill="${theme.ground}" fill-opacity="0.9"/>`] : [];
  for (const [x0, y0, x1, y1] of lines) {
    parts.push(`<path d="M${number(x0)} ${number(y0)}L${number(x1)} ${number(y1)}" stroke="${theme.faint}" stroke-width="1.3"/>`);
  }
  for (const { text, x, y, align } of texts) {
    parts.push(`<text x="${number(x)}" y="${number(y)}" font-size="${MARK_TEXT}" fill="${theme.faint}" `
      + `text-anchor="${align === 'center' ? 'middle' : 'start'}">${escapeXml(text)}</text>`);
  }
  return parts;
}
