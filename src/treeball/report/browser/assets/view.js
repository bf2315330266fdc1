// Moving the picture, whatever it is: the disk by isometries, a layout to scale by shifts.

// What a hand holds at a place on the screen.
/** @param {App} app @param {number} px @param {number} py @returns {Point} */
function grasp(app, px, py) {
  return app.flat ? [px, py] : toDisk(app.camera, px, py);
}

/** @param {App} app @param {Point} from @param {Point} to */
function dragView(app, from, to) {
  if (app.flat) dragFlat(app.flat, from, to);
  else dragCamera(app.camera, from, to);
}

/** @param {App} app @param {number} factor @param {number} px @param {number} py @param {boolean} [rowsOnly] */
function zoomView(app, factor, px, py, rowsOnly = false) {
  if (app.flat) zoomFlat(app.flat, factor, px, py, rowsOnly);
  else zoomCamera(app.camera, factor, px, py);
}

// The place on the screen about which buttons and keys zoom.
/** @param {App} app @returns {Point} */
function middleOfView({ area, camera, flat }) {
  return flat ? [(area.left + area.right) / 2, (area.top + area.bottom) / 2] : [camera.x, camera.y];
}

/** @param {App} app @param {number} node @param {boolean} isInstant */
function flyTo(app, node, isInstant) {
  if (app.flat) showInFlat(app, app.flat, node, isInstant);
  else startFlight(app.tree, app.camera, node, performance.now(), isInstant);
}

/** @param {App} app */
function isFlying({ camera, flat }) {
  return Boolean(camera.flight || flat?.flight);
}

/** @param {App} app @param {number} now */
function advanceView({ camera, flat }, now) {
  if (flat) advanceFlat(flat, now);
  else advanceFlight(camera, now);
}
