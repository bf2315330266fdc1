// Isometries of the Poincaré disk as four numbers [ar, ai, br, bi]: z -> (a z + b) / (conj(b) z + conj(a)), |a|² - |b|² = 1.

/** @type {Isometry} */
const IDENTITY = [1, 0, 0, 0];

/** @param {Isometry} m @param {Isometry} n @returns {Isometry} */
function compose(m, n) {
  return [
    m[0] * n[0] - m[1] * n[1] + m[2] * n[2] + m[3] * n[3],
    m[0] * n[1] + m[1] * n[0] + m[3] * n[2] - m[2] * n[3],
    m[0] * n[2] - m[1] * n[3] + m[2] * n[0] + m[3] * n[1],
    m[0] * n[3] + m[1] * n[2] + m[3] * n[0] - m[2] * n[1],
  ];
}

// Rounding lets |a|² - |b|² drift from 1; a and b keep their ratio, on which the image of the centre depends.
/** @param {Isometry} m @returns {Isometry} */
function normalised(m) {
  const a2 = m[0] * m[0] + m[1] * m[1];
  const b2 = m[2] * m[2] + m[3] * m[3];
  const scale = 1 / Math.sqrt(Math.max(a2 - b2, 1e-12));
  return [m[0] * scale, m[1] * scale, m[2] * scale, m[3] * scale];
}

/** @param {Isometry} m @returns {Point} */
function imageOfCentre(m) {
  const a2 = m[0] * m[0] + m[1] * m[1];
  return [(m[2] * m[0] - m[3] * m[1]) / a2, (m[2] * m[1] + m[3] * m[0]) / a2];
}

// The translation that takes p to q and turns nothing at the centre, which is what a hand that drags expects.
/** @param {number} px @param {number} py @param {number} qx @param {number} qy @returns {Isometry} */
function translationBetween(px, py, qx, qy) {
  const dx = qx - px;
  const dy = qy - py;
  const ex = px * qx - py * qy; // p q
  const ey = px * qy + py * qx;
  const scale = 1 / (1 - (ex * ex + ey * ey));
  return translation((dx + ex * dx + ey * dy) * scale, (dy + ey * dx - ex * dy) * scale);
}

// The translation that takes the centre to (x, y).
/** @param {number} x @param {number} y @returns {Isometry} */
function translation(x, y) {
  const a = 1 / Math.sqrt(Math.max(1 - x * x - y * y, 1e-12));
  return [a, 0, x * a, y * a];
}

// Every isometry is a turn about the centre followed by a translation: {distance, direction, turn}.
/** @param {Isometry} m */
function polar(m) {
  const [x, y] = imageOfCentre(m);
  return {
    distance: 2 * Math.asinh(Math.hypot(m[2], m[3])),
    direction: Math.atan2(y, x),
    turn: 2 * Math.atan2(m[1], m[0]),
  };
}

/** @param {number} distance @param {number} direction @param {number} turn @returns {Isometry} */
function fromPolar(distance, direction, turn) {
  const cosh = Math.cosh(distance / 2);
  const sinh = Math.sinh(distance / 2);
  return [
    cosh * Math.cos(turn / 2),
    cosh * Math.sin(turn / 2),
    sinh * Math.cos(direction - turn / 2),
    sinh * Math.sin(direction - turn / 2),
  ];
}

// Half the angle that the geodesic from p to q turns by: it is an arc of the circle through both that meets the rim at
// right angles, and this angle is the argument of 1 - conj(p) q.
/** @param {number} px @param {number} py @param {number} qx @param {number} qy */
function halfTurn(px, py, qx, qy) {
  return Math.atan2(px * qy - py * qx, 1 - (px * qx + py * qy));
}
