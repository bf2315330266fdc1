// Edges and dots on WebGL2. An edge is a strip that is bent along its circular arc in as many pieces as can be seen.
//
// The strips are cut here and not in a shader: most edges are a few pixels long, and where WebGL runs without a graphics
// card an instance for each of them costs ten times as much as its four corners.

const EDGE_VERTEX = `#version 300 es
uniform vec2 viewport;
in vec2 place;           // in pixels
in vec3 strip;           // distance from the middle line, half width, way along it
in vec4 color;
out vec4 tint;
out vec3 band;
void main() {
  band = strip;
  tint = color;
  gl_Position = vec4(place / viewport * vec2(2.0, -2.0) + vec2(-1.0, 1.0), 0.0, 1.0);
}`;

const EDGE_FRAGMENT = `#version 300 es
precision mediump float;
uniform float dash;
in vec4 tint;
in vec3 band;
out vec4 fragment;
void main() {
  float cover = clamp(band.y + 0.5 - abs(band.x), 0.0, 1.0);
  if (dash > 0.0 && mod(band.z, dash) > 0.58 * dash) cover = 0.0;
  fragment = vec4(tint.rgb, 1.0) * tint.a * cover;
}`;

const DOT_VERTEX = `#version 300 es
uniform vec2 center;
uniform vec2 viewport;
uniform float radius;
in vec3 dot;             // place in the disk, radius in pixels
in vec4 color;
out vec4 tint;
out float size;
void main() {
  vec2 pixel = center + vec2(1.0, -1.0) * dot.xy * radius;
  size = dot.z;
  tint = color;
  gl_PointSize = 2.0 * (dot.z + 1.0);
  gl_Position = vec4(pixel / viewport * vec2(2.0, -2.0) + vec2(-1.0, 1.0), 0.0, 1.0);
}`;

const DOT_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint;
in float size;
out vec4 fragment;
void main() {
  float away = length(gl_PointCoord - 0.5) * 2.0 * (size + 1.0);
  fragment = vec4(tint.rgb, 1.0) * tint.a * clamp(size + 0.5 - away, 0.0, 1.0);
}`;

const EDGE_BYTES = 24;
const DOT_BYTES = 16;

// Whether a graphics card runs WebGL2; where a program plays the card, Canvas is the faster of the two.
function hasGraphicsCard() {
  const gl = make('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true });
  if (!gl) return false;
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software|basic render/iu.test(name);
}

/** @param {HTMLCanvasElement} canvas @returns {Renderer | null} */
function makeWebglRenderer(canvas) {
  const gl = canvas.getContext('webgl2', { antialias: false, powerPreference: 'low-power' });
  return gl && makeGlRenderer(canvas, gl);
}

/** @param {HTMLCanvasElement} canvas @param {WebGL2RenderingContext} gl @returns {Renderer} */
function makeGlRenderer(canvas, gl) {
  const edges = makeProgram(gl, EDGE_VERTEX, EDGE_FRAGMENT);
  const dots = makeProgram(gl, DOT_VERTEX, DOT_FRAGMENT);
  const edgeArray = makeArray(gl, edges, EDGE_BYTES, [['place', 2, 0], ['strip', 3, 8], ['color', 4, 20]]);
  const dotArray = makeArray(gl, dots, DOT_BYTES, [['dot', 3, 0], ['color', 4, 12]]);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);

  /** @param {App} app @param {DrawList} list @param {number} ratio @param {number} dash */
  function drawEdges(app, list, ratio, dash) {
    if (!list.count) return;
    const { bytes, corners } = cutStrips(list, app.camera, ratio, app.picture.isFine ? 0.12 : 0.8);
    gl.useProgram(edges.program);
    gl.uniform2f(edges.at.viewport, canvas.width, canvas.height);
    gl.uniform1f(edges.at.dash, dash * ratio);
    edgeArray.upload(bytes);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, corners);
  }

  /** @param {App} app @param {DrawList} list @param {number} ratio */
  function drawDots({ camera }, list, ratio) {
    gl.useProgram(dots.program);
    gl.uniform2f(dots.at.center, camera.x * ratio, camera.y * ratio);
    gl.uniform2f(dots.at.viewport, canvas.width, canvas.height);
    gl.uniform1f(dots.at.radius, camera.radius * ratio);
    dotArray.upload(packDots(list, ratio));
    gl.drawArrays(gl.POINTS, 0, list.count);
  }

  return {
    kind: 'webgl',
    resize(width, height, ratio) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    },
    draw(app) {
      const ratio = app.pixelRatio;
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const list = collect(app);
      drawEdges(app, list.edges, ratio, 0);
      drawEdges(app, list.solid, ratio, 0);
      drawEdges(app, list.dashed, ratio, 9);
      drawDots(app, list.dots, ratio);
    },
  };
}

/** @param {WebGL2RenderingContext} gl @param {string} vertex @param {string} fragment @returns {GlProgram} */
function makeProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const { kind, source } of [{ kind: gl.VERTEX_SHADER, source: vertex }, { kind: gl.FRAGMENT_SHADER, source: fragment }]) {
    const shader = gl.createShader(kind);
    if (!shader) throw new Error('the context is lost');
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) || 'the program does not link');
  /** @type {GlProgram['at']} */
  const at = {};
  for (const name of ['center', 'viewport', 'radius', 'dash']) at[name] = gl.getUniformLocation(program, name);
  return { program, at };
}

// A buffer that grows, with its attributes: four floats or fewer each, and a colour of four bytes.
/**
 * @param {WebGL2RenderingContext} gl
 * @param {GlProgram} owner
 * @param {number} stride
 * @param {[string, number, number][]} attributes
 */
function makeArray(gl, { program }, stride, attributes) {
  const array = gl.createVertexArray();
  const buffer = gl.createBuffer();
  let capacity = 0;
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  for (const [name, width, offset] of attributes) {
    const place = gl.getAttribLocation(program, name);
    const isColor = name === 'color';
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, width, isColor ? gl.UNSIGNED_BYTE : gl.FLOAT, isColor, stride, offset);
  }
  return {
    /** @param {Bytes} bytes */
    upload(bytes) {
      gl.bindVertexArray(array);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      if (bytes.byteLength > capacity) {
        capacity = 2 * bytes.byteLength;
        gl.bufferData(gl.ARRAY_BUFFER, capacity, gl.DYNAMIC_DRAW);
      }
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, bytes);
    },
  };
}

const strips = { buffer: new ArrayBuffer(0), floats: new Float32Array(0), colors: new Uint32Array(0) };

// Edges as corners of one long strip; a corner twice, at either end of an edge, makes the jump to the next invisible.
/** @param {DrawList} list @param {Camera} camera @param {number} ratio @param {number} tolerance */
function cutStrips(list, camera, ratio, tolerance) {
  const radius = camera.radius * ratio;
  const centerX = camera.x * ratio;
  const centerY = camera.y * ratio;
  const pieces = new Uint8Array(list.count);
  let corners = 0;
  for (let i = 0; i < list.count; i++) {
    const d = list.data;
    const off = bulge(camera, d[6 * i], d[6 * i + 1], d[6 * i + 2], d[6 * i + 3], radius);
    // An arc in m pieces leaves its circle by its bulge / m².
    pieces[i] = off < tolerance ? 1 : Math.min(64, Math.ceil(Math.sqrt(off / tolerance)));
    corners += 2 * pieces[i] + 4;
  }
  const length = corners * EDGE_BYTES;
  if (strips.buffer.byteLength < length) {
    strips.buffer = new ArrayBuffer(2 * length);
    strips.floats = new Float32Array(strips.buffer);
    strips.colors = new Uint32Array(strips.buffer);
  }
  const { floats, colors } = strips;
  const tints = new Uint32Array(list.color.buffer);
  let at = 0;

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} side
   * @param {number} half
   * @param {number} way
   * @param {number} tint
   */
  function corner(x, y, side, half, way, tint) {
    floats[at] = x;
    floats[at + 1] = y;
    floats[at + 2] = side;
    floats[at + 3] = half;
    floats[at + 4] = way;
    colors[at + 5] = tint;
    at += 6;
  }

  for (let i = 0; i < list.count; i++) {
    const k = 6 * i;
    const px = list.data[k], py = list.data[k + 1];
    const dx = list.data[k + 2] - px, dy = list.data[k + 3] - py;
    const half = halfTurn(px, py, px + dx, py + dy);
    const isBent = pieces[i] > 1;
    const sine = Math.sin(half), cosine = Math.cos(half);
    const long = Math.hypot(dx, dy);
    const toPixels = long > 0 ? 1 / long : 0;
    for (let piece = 0; piece <= pieces[i]; piece++) {
      const t = piece / pieces[i];
      let along = t, aside = 0, c = 1, s = 0;
      if (isBent) {
        const turn = (2 * t - 1) * half;
        s = Math.sin(turn);
        c = Math.cos(turn);
        along = 0.5 + (0.5 * s) / sine;
        aside = (c - cosine) / (2 * sine);
      }
      // Across the strip: a right angle to the tangent d cos - left(d) sin, on a screen whose second axis points down.
      const nx = (-dy * c + dx * s) * toPixels;
      const ny = -(dx * c + dy * s) * toPixels;
      const x = centerX + (px + dx * along - dy * aside) * radius;
      const y = centerY - (py + dy * along + dx * aside) * radius;
      const wide = 0.5 * ratio * (list.data[k + 4] + (list.data[k + 5] - list.data[k + 4]) * t);
      const reach = wide + 1;
      const way = t * long * radius;
      if (piece === 0) corner(x + nx * reach, y + ny * reach, reach, wide, way, tints[i]);
      corner(x + nx * reach, y + ny * reach, reach, wide, way, tints[i]);
      corner(x - nx * reach, y - ny * reach, -reach, wide, way, tints[i]);
      if (piece === pieces[i]) corner(x - nx * reach, y - ny * reach, -reach, wide, way, tints[i]);
    }
  }
  return { bytes: new Uint8Array(strips.buffer, 0, 4 * at), corners: at / 6 };
}

// Dots as bytes; last comes what is near the middle, to lie on top.
/** @param {DrawList} list @param {number} ratio */
function packDots(list, ratio) {
  const buffer = new ArrayBuffer(list.count * DOT_BYTES);
  const floats = new Float32Array(buffer);
  const colors = new Uint32Array(buffer);
  const tints = new Uint32Array(list.color.buffer);
  for (let i = 0; i < list.count; i++) {
    const at = 4 * (list.count - 1 - i);
    floats[at] = list.data[3 * i];
    floats[at + 1] = list.data[3 * i + 1];
    floats[at + 2] = list.data[3 * i + 2] * ratio;
    colors[at + 3] = tints[i];
  }
  return new Uint8Array(buffer);
}
