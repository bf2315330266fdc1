// Mouse, pen and fingers: drag moves, wheel and pinch zoom, a click brings to the middle, a double click opens.

const CLICK_REACH = 5; // pixels a hand may shake during a click
const DOUBLE_CLICK = 330;
/** @type {Point} */
const IN_THE_MIDDLE = [0, 0];

// The node at a place on the screen, or -1.
/** @param {App} app @param {number} px @param {number} py @param {number} reach */
function nodeAt(app, px, py, reach) {
  const { camera, tree, picture } = app;
  const { scene } = picture;
  let best = -1;
  let least = 1;
  for (let i = 0; i < scene.count; i++) {
    const dx = camera.x + scene.x[i] * camera.radius - px;
    const dy = camera.y - scene.y[i] * camera.radius - py;
    const allowed = reach + dotRadius(tree, scene.node[i], scene.scale[i], camera);
    const away = (dx * dx + dy * dy) / (allowed * allowed);
    if (away < least) {
      least = away;
      best = scene.node[i];
    }
  }
  if (best >= 0) return best;
  for (const { node, text, x, y, size } of app.labels) {
    const width = textWidth(app.overlay.context, text, fontOf(size, node === app.focus));
    if (px >= x - 2 && px <= x + width + 2 && py >= y - size && py <= y + 0.35 * size) return node;
  }
  return -1;
}

/** @param {App} app */
function startPointer(app) {
  const stage = byId('stage');
  /** @type {Map<number, Point>} */
  const down = new Map(); // pointers that touch, by id
  // The first touch: where, what it holds, and whether it may still become a click.
  let start = { point: IN_THE_MIDDLE, held: IN_THE_MIDDLE, isClick: false, flightTo: -1 };
  let lastClick = { time: 0, node: -1 };
  let pinch = 0;

  /** @param {MouseEvent} event @returns {Point} */
  const at = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  /** @returns {Point} */
  const middle = () => {
    let [x, y] = [0, 0];
    for (const point of down.values()) {
      x += point[0] / down.size;
      y += point[1] / down.size;
    }
    return [x, y];
  };
  const spread = () => {
    const [a, b] = [...down.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };

  stage.addEventListener('pointerdown', (event) => {
    if (event.button > 0) return;
    stage.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(event));
    const held = grasp(app, ...middle());
    if (down.size === 1) start = { point: at(event), held, isClick: true, flightTo: app.camera.flight?.target ?? -1 };
    else start = { ...start, held, isClick: false };
    if (down.size === 2) pinch = spread();
    app.camera.flight = null;
    if (app.flat) app.flat.flight = null;
  });

  stage.addEventListener('pointermove', (event) => {
    const point = at(event);
    if (!down.has(event.pointerId)) {
      if (event.pointerType !== 'touch') hover(nodeAt(app, ...point, 7), point);
      return;
    }
    down.set(event.pointerId, point);
    if (start.isClick && Math.hypot(point[0] - start.point[0], point[1] - start.point[1]) < CLICK_REACH) return;
    start.isClick = false;
    app.isDragging = true;
    hover(-1);
    if (down.size === 2) {
      const now = spread();
      zoomView(app, now / pinch, ...middle());
      pinch = now;
    }
    const to = grasp(app, ...middle());
    dragView(app, start.held, to);
    start.held = to;
    app.moved();
  });

  /** @param {PointerEvent} event */
  function release(event) {
    if (!down.delete(event.pointerId)) return;
    if (down.size) {
      start.held = grasp(app, ...middle());
      return;
    }
    app.isDragging = false;
    if (start.isClick && event.type === 'pointerup') click(at(event), event.pointerType === 'touch');
    else if (!start.isClick) app.focusMiddle();
    app.moved();
  }
  stage.addEventListener('pointerup', release);
  stage.addEventListener('pointercancel', release);
  stage.addEventListener('pointerleave', () => hover(-1));

  /** @param {Point} point @param {boolean} isTouch */
  function click(point, isTouch) {
    const now = performance.now();
    const node = nodeAt(app, ...point, isTouch ? 16 : 9);
    // In the disk the first click moved what was under the pointer, so the second means the same node.
    const isSame = lastClick.node >= 0 && (!app.flat || node === lastClick.node);
    if (isSame && now - lastClick.time < DOUBLE_CLICK) {
      app.openSubtree(lastClick.node);
      lastClick.time = 0;
      return;
    }
    lastClick = { time: now, node };
    if (node >= 0) app.goTo(node);
    else if (start.flightTo >= 0) app.goTo(start.flightTo); // a click beside everything does not end a flight
  }

  /** @param {number} node @param {Point} [point] */
  function hover(node, point) {
    stage.classList.toggle('on-node', node >= 0);
    if (node !== app.hovered) {
      app.hovered = node;
      app.redraw();
    }
    showCard(app, node, ...(point || IN_THE_MIDDLE));
  }

  stage.addEventListener('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const turned = (event.deltaY || (event.shiftKey ? event.deltaX : 0)) * lines; // Shift turns the wheel aside on some systems
    zoomView(app, Math.exp(-Math.max(-120, Math.min(120, turned)) * 0.0016), ...at(event), event.shiftKey);
    app.moved();
  }, { passive: false });

  /** @param {number} factor */
  const zoomBy = (factor) => () => {
    zoomView(app, factor, ...middleOfView(app));
    app.moved();
  };
  app.zoomIn = zoomBy(1.3);
  app.zoomOut = zoomBy(1 / 1.3);
  byId('zoom-in').addEventListener('click', app.zoomIn);
  byId('zoom-out').addEventListener('click', app.zoomOut);
}
