// What the page carries: the numbers and names that packing.py wrote, as typed arrays.

async function unpack(name) {
  const element = document.getElementById(`data-${name}`);
  if (!element) return null;
  const text = atob(element.textContent);
  element.remove(); // the text is not needed twice, and may be long
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function readVarints(bytes) {
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] < 0x80) count++;
  const values = new Int32Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    let value = 0;
    let shift = 0;
    let byte;
    do {
      byte = bytes[at++];
      value |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80);
    values[i] = value;
  }
  return values;
}

function readSignedVarints(bytes) {
  const values = readVarints(bytes);
  for (let i = 0; i < values.length; i++) values[i] = (values[i] >>> 1) ^ -(values[i] & 1);
  return values;
}

function readFloatPlanes(bytes, Kind) {
  const width = Kind.BYTES_PER_ELEMENT;
  const count = bytes.length / width;
  const joined = new Uint8Array(bytes.length);
  for (let plane = 0; plane < width; plane++) {
    for (let i = 0, from = plane * count; i < count; i++) joined[i * width + plane] = bytes[from + i];
  }
  return new Kind(joined.buffer);
}

async function unpackAll(names) {
  const parts = await Promise.all(names.map(unpack));
  return Object.fromEntries(names.map((name, i) => [name, parts[i]]));
}

// Structure first: it is all that the first picture needs.
async function loadTree() {
  const raw = await unpackAll(['children', 'names', 'angle', 'length', 'other_child', 'other_parent']);
  const n = summary.nodes;
  return makeTree({
    childCount: readVarints(raw.children),
    nameBytes: raw.names,
    angle: readFloatPlanes(raw.angle, raw.angle.length === 8 * n ? Float64Array : Float32Array),
    length: readFloatPlanes(raw.length, Float32Array),
    otherChild: raw.other_child ? readVarints(raw.other_child) : new Int32Array(0),
    otherParent: raw.other_parent ? readVarints(raw.other_parent) : new Int32Array(0),
  });
}

async function loadFacts() {
  const floats = ['radius', 'parent_distance', 'margin', 'near_distance', 'ill_distance', 'ill_offender_distance',
    'column'];
  const raw = await unpackAll([...floats, 'near', 'ill_node', 'ill_positive', 'ill_offender', 'ill_kind']);
  const numbers = (name) => (raw[name] ? readFloatPlanes(raw[name], Float32Array) : null);
  const illNode = raw.ill_node ? readVarints(raw.ill_node) : new Int32Array(0);
  const fromNode = (name) => {
    const values = raw[name] ? readSignedVarints(raw[name]) : new Int32Array(0);
    for (let i = 0; i < values.length; i++) values[i] += illNode[i];
    return values;
  };
  return {
    radius: numbers('radius'),
    parentDistance: numbers('parent_distance'),
    margin: numbers('margin'),
    near: raw.near ? readSignedVarints(raw.near) : null, // differences to the node itself; 0 for none
    nearDistance: numbers('near_distance'),
    column: numbers('column'),
    ill: {
      node: illNode,
      positive: fromNode('ill_positive'),
      offender: fromNode('ill_offender'),
      kind: raw.ill_kind || new Uint8Array(0),
      distance: numbers('ill_distance'),
      offenderDistance: numbers('ill_offender_distance'),
      ...pairsOfNodes(illNode),
    },
  };
}

// For each node the first of its ill pairs, and for each pair the next of the same node; -1 ends a list.
function pairsOfNodes(illNode) {
  const firstPair = new Int32Array(summary.nodes).fill(-1);
  const nextPair = new Int32Array(illNode.length).fill(-1);
  for (let pair = illNode.length - 1; pair >= 0; pair--) {
    nextPair[pair] = firstPair[illNode[pair]];
    firstPair[illNode[pair]] = pair;
  }
  return { firstPair, nextPair };
}
