// The current view as a file: PNG painted anew at twice the size, SVG with true arcs and text that stays text.

/** @param {App} app */
function startExport(app) {
  byId('save-png').addEventListener('click', () => savePng(app));
  byId('save-svg').addEventListener('click', () => saveSvg(app));
}

/** @param {App} app @param {string} ending */
function fileName(app, ending) {
  const name = `${summary.title}-${shortName(app.tree, app.focus)}`.replace(/[^\p{L}\p{N}._-]+/gu, '-');
  return `${name.slice(0, 80).replace(/^-+|-+$/gu, '') || 'treeball'}.${ending}`;
}

/** @param {Blob} blob @param {string} name */
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  make('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** @param {App} app */
function savePng(app) {
  const ratio = 2;
  const canvas = make('canvas', { width: ratio * app.width, height: ratio * app.height });
  const context = penOf(canvas);
  context.scale(ratio, ratio);
  const { camera, theme } = app;
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, app.width, app.height);
  if (!camera.isFlat) {
    context.beginPath();
    context.arc(camera.x, camera.y, camera.radius, 0, 7);
    context.fillStyle = theme.disk;
    context.fill();
    context.strokeStyle = theme.rim;
    context.stroke();
  }
  look(app, true);
  paint(context, app, collect(app));
  paintRings(context, app);
  paintLabels(context, app, app.labels);
  paintMarks(context, app, scaleMarks(app));
  canvas.toBlob((blob) => {
    if (blob) download(blob, fileName(app, 'png'));
    else announce('The view is too large to be saved as PNG'); // larger than this browser can encode
  }, 'image/png');
}

/** @param {App} app */
function saveSvg(app) {
  download(new Blob([svgOf(app)], { type: 'image/svg+xml' }), fileName(app, 'svg'));
}

/** @param {App} app */
function svgOf(app) {
  const { camera, theme } = app;
  look(app, true);
  const { edges, solid, dashed, dots } = collect(app);
  /** @param {number} value */
  const number = (value) => String(Math.round(100 * value) / 100);
  /** @param {number} x @param {number} y */
  const place = (x, y) => `${number(camera.x + x * camera.radius)} ${number(camera.y - y * camera.radius)}`;
  const parts = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${app.width} ${app.height}" font-family="${escapeXml(FONT)}">`,
    `<title>${escapeXml(`${summary.title}: ${fullName(app.tree, app.focus)}`)}</title>`,
    `<rect width="${app.width}" height="${app.height}" fill="${theme.ground}"/>`];
  if (!camera.isFlat) parts.push(`<circle cx="${number(camera.x)}" cy="${number(camera.y)}" r="${number(camera.radius)}" fill="${theme.disk}" stroke="${theme.rim}"/>`);

  /** @param {DrawList} list @param {number} i */
  function path(list, i) {
    const [x0, y0, x1, y1] = list.data.subarray(6 * i, 6 * i + 4);
    if (bulge(camera, x0, y0, x1, y1, camera.radius) < 0.3) return `M${place(x0, y0)}L${place(x1, y1)}`;
    const { radius, isClockwise } = circleThrough(x0, y0, x1, y1);
    const size = number(radius * camera.radius);
    return `M${place(x0, y0)}A${size} ${size} 0 0 ${isClockwise ? 1 : 0} ${place(x1, y1)}`;
  }

  /** @param {DrawList} list @param {string} extra */
  function addEdges(list, extra) {
    parts.push(`<g fill="none" stroke-linecap="round"${extra}>`);
    for (let i = 0; i < list.count; i++) {
      const width = (list.data[6 * i + 4] + list.data[6 * i + 5]) / 2;
      parts.push(`<path d="${path(list, i)}" stroke="${hexColor(list, i)}" stroke-width="${number(width)}" `
        + `stroke-opacity="${number(list.color[4 * i + 3] / 255)}"/>`);
    }
    parts.push('</g>');
  }

  addEdges(edges, '');
  addEdges(solid, '');
  addEdges(dashed, ' stroke-dasharray="5.5 4"');
  for (let i = dots.count - 1; i >= 0; i--) {
    const [x, y, radius] = dots.data.subarray(3 * i, 3 * i + 3);
    const [cx, cy] = place(x, y).split(' ');
    parts.push(`<circle cx="${cx}" cy="${cy}" r="${number(radius)}" fill="${hexColor(dots, i)}" `
      + `fill-opacity="${number(dots.color[4 * i + 3] / 255)}"/>`);
  }
  for (const { text, x, y, size, isBold } of app.labels) {
    parts.push(`<text x="${number(x)}" y="${number(y)}" font-size="${size}" font-weight="${isBold ? 600 : 400}" fill="${theme.ink}" `
      + `stroke="${theme.halo}" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke">${escapeXml(text)}</text>`);
  }
  parts.push(...svgMarks(app, scaleMarks(app)), '</svg>');
  return parts.join('\n');
}

/** @param {DrawList} list @param {number} i */
function hexColor(list, i) {
  return `#${[0, 1, 2].map((k) => list.color[4 * i + k].toString(16).padStart(2, '0')).join('')}`;
}

/** @param {string} text */
function escapeXml(text) {
  const clean = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu, '\ufffd');
  return clean.replace(/[&<>"']/gu, (letter) => `&#${letter.charCodeAt(0)};`);
}
