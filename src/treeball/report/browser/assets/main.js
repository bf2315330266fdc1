// The page comes to life: read the data, choose a renderer, wire everything up.

/** @type {Summary} */
const summary = JSON.parse(byId('summary').textContent);

/** @param {HTMLCanvasElement} canvas @returns {Renderer} */
function makeRenderer(canvas) {
  const wanted = new URLSearchParams(location.search).get('renderer');
  try {
    const renderer = wanted === 'webgl' || (wanted !== 'canvas' && hasGraphicsCard()) ? makeWebglRenderer(canvas) : null;
    if (renderer) return renderer;
  } catch (error) {
    console.warn('WebGL2 cannot be used:', error.message);
    return makeCanvasRenderer(freshCanvas(canvas));
  }
  return makeCanvasRenderer(canvas);
}

// A canvas that gave WebGL gives nothing else.
/** @param {HTMLCanvasElement} canvas */
function freshCanvas(canvas) {
  const fresh = /** @type {HTMLCanvasElement} */ (canvas.cloneNode());
  canvas.replaceWith(fresh);
  return fresh;
}

// Size everything to the window: the disk lies in what the panel leaves free.
/** @param {App} app */
function fit(app) {
  const stage = byId('stage').getBoundingClientRect();
  const panel = byId('panel').getBoundingClientRect();
  const isBeside = panel.width < 0.7 * stage.width;
  const isShown = !document.body.classList.contains('no-panel');
  app.width = Math.round(stage.width);
  app.height = Math.round(stage.height);
  app.pixelRatio = Math.min(2, devicePixelRatio || 1);
  const right = isShown && isBeside ? stage.right - panel.left : 0;
  const bottom = isShown && !isBeside ? Math.max(0, stage.bottom - panel.top) : 0;
  const top = byId('topline').getBoundingClientRect().bottom - stage.top;
  app.area = { left: 6, top: Math.max(0, top), right: app.width - right - 6, bottom: app.height - bottom - 4 };
  const { camera } = app;
  const wide = app.area.right - app.area.left;
  const high = app.area.bottom - app.area.top;
  camera.baseRadius = Math.max(60, Math.min(wide, high) / 2 - 12);
  camera.radius = camera.baseRadius * camera.zoom;
  // The legend stands at the left: give it what room there is.
  camera.x = (app.area.left + app.area.right) / 2 + Math.min(50, Math.max(0, wide - high) / 4);
  // On a phone it stands below the disk.
  camera.y = (app.area.top + app.area.bottom) / 2 - Math.max(0, high - wide) / 4;
  if (app.flat) {
    // Places in the scene are pixels then, see flat_walk.js.
    camera.x = camera.y = 0;
    camera.radius = 1;
    fitFlat(app);
  }
  app.renderer.resize(app.width, app.height, app.pixelRatio);
  app.overlay.width = app.overlay.canvas.width = Math.round(app.width * app.pixelRatio);
  app.overlay.height = app.overlay.canvas.height = Math.round(app.height * app.pixelRatio);
}

/** @param {App} app */
function placeDisk(app) {
  const { camera } = app;
  if (camera.isFlat) return;
  const disk = byId('disk');
  disk.style.width = disk.style.height = `${2 * camera.radius}px`;
  disk.style.transform = `translate(${camera.x - camera.radius}px, ${camera.y - camera.radius}px)`;
}

async function start() {
  document.title = `${visible(summary.title)} · treeball`;
  byId('title').textContent = visible(summary.title);
  const tree = await loadTree();
  const facts = await loadFacts();
  const flatParts = await loadFlatParts();
  const part = await loadPart();
  // What is missing here is added below, by the parts of the page as they start.
  const app = /** @type {App} */ (/** @type {Partial<App>} */ ({
    tree, facts, part, camera: makeCamera(), focus: 0, top: 0, hovered: -1, highlight: null, frames: 0,
    showsIllness: facts.ill.node.length > 0, shownKinds: [true, true, true], isDragging: false,
    flat: null, layout: 'disk', marks: noMarks(), labels: [], labelSides: new Map(),
    colourings: makeColourings(tree, facts), colouring: facts.column ? 'column' : 'subtree',
  }));
  app.picture = makePicture(app);
  app.overlay = { canvas: byId('labels'), context: penOf(byId('labels')), width: 0, height: 0 };
  app.colourBy = (name) => {
    app.colouring = name;
    byId('colour').value = name;
    refreshPalette(app);
    showLegend(app);
    showDetails(app);
    if (app.flat) app.resize(); // the legend may have grown
    else app.redraw();
  };
  app.resize = () => {
    fit(app);
    app.redraw();
  };
  startTheme(app);
  startLegend(app);
  app.renderer = makeRenderer(byId('picture'));
  byId('picture').addEventListener('webglcontextlost', () => {
    app.renderer = makeCanvasRenderer(freshCanvas(byId('picture')));
    app.resize();
  });
  startClock(app);
  startTabs(app);
  startIllness(app);
  startLayouts(app, flatParts);
  startPointer(app);
  startKeyboard(app);
  startSearch(app);
  startExport(app);
  app.showPanel(innerWidth > 940);
  startNavigation(app);
  addEventListener('resize', app.resize);
  document.body.classList.remove('loading');
  byId('loading').remove();
  globalThis.treeball = app; // for those who like to script their view
}

start().catch((error) => {
  byId('loading').textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
