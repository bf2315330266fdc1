// What the page carries: the numbers and names that packing.py wrote, as typed arrays.

/** @param {string} name @returns {Promise<Bytes | null>} */
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

/** @param {Bytes} bytes */
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

/** @param {Bytes} bytes */
function readSignedVarints(bytes) {
  const values = readVarints(bytes);
  for (let i = 0; i < values.length; i++) values[i] = (values[i] >>> 1) ^ -(values[i] & 1);
  return values;
}

/**
 * @template {Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>} Kind
 * @param {Bytes} bytes
 * @param {{ new (buffer: ArrayBuffer): Kind, BYTES_PER_ELEMENT: number }} Kind
 */
function readFloatPlanes(bytes, Kind) {
  const width = Kind.BYTES_PER_ELEMENT;
  const count = bytes.length / width;
  const joined = new Uint8Array(bytes.length);
  for (let plane = 0; plane < width; plane++) {
    for (let i = 0, from = plane * count; i < count; i++) joined[i * width + plane] = bytes[from + i];
  }
  return new Kind(joined.buffer);
}

/**
 * @template {string} Name
 * @param {Name[]} names
 * @returns {Promise<Record<Name, Bytes | null>>}
 */
async function unpackAll(names) {
  const parts = await Promise.all(names.map(unpack));
  return /** @type {Record<Name, Bytes | null>} */ (Object.fromEntries(names.map((name, i) => [name, parts[i]])));
}

// A page that was cut short or edited is told of as such.
/** @param {Bytes | null} bytes @param {string} name */
function present(bytes, name) {
  if (!bytes) throw new Error(`its part "${name}" is missing`);
  return bytes;
}

// Structure first: it is all that the first picture needs.
/** @returns {Promise<Tree>} */
async function loadTree() {
  const raw = await unpackAll(['children', 'names', 'ids', 'angle', 'length', 'other_child', 'other_parent']);
  const angle = present(raw.angle, 'angle');
  const n = summary.nodes;
  return makeTree({
    childCount: readVarints(present(raw.children, 'children')),
    nameBytes: present(raw.names, 'names'),
    idBytes: raw.ids, // only where nodes have labels, which are then what is in names
    angle: angle.length === 8 * n ? readFloatPlanes(angle, Float64Array) : readFloatPlanes(angle, Float32Array),
    length: readFloatPlanes(present(raw.length, 'length'), Float32Array),
    otherChild: raw.other_child ? readVarints(raw.other_child) : new Int32Array(0),
    otherParent: raw.other_parent ? readVarints(raw.other_parent) : new Int32Array(0),
  });
}

// What the layouts to scale are made of; null where the tree is too large for them.
/** @returns {Promise<FlatParts | null>} */
async function loadFlatParts() {
  if (summary.to_scale === null) return null;
  const raw = await unpackAll(['edge_length', 'row']);
  const row = readSignedVarints(present(raw.row, 'row'));
  for (let i = 1; i < row.length; i++) row[i] += row[i - 1]; // differences in level order
  return { length: readFloatPlanes(present(raw.edge_length, 'edge_length'), Float32Array), row };
}

// What the nodes have in the whole model of which this is a part; null where the page shows all.
/** @returns {Promise<PartOfNodes | null>} */
async function loadPart() {
  if (!summary.part) return null;
  const raw = await unpackAll(['whole_children', 'whole_below']);
  return {
    children: readVarints(present(raw.whole_children, 'whole_children')),
    below: readVarints(present(raw.whole_below, 'whole_below')),
  };
}

/** @returns {Promise<Facts>} */
async function loadFacts() {
  const raw = await unpackAll(['radius', 'parent_distance', 'margin', 'near_distance', 'ill_distance',
    'ill_offender_distance', 'column', 'near', 'ill_node', 'ill_positive', 'ill_offender', 'ill_kind']);
  /** @param {Bytes | null} bytes */
  const numbers = (bytes) => readFloatPlanes(bytes || new Uint8Array(0), Float32Array);
  const illNode = raw.ill_node ? readVarints(raw.ill_node) : new Int32Array(0);
  /** @param {Bytes | null} bytes */
  const fromNode = (bytes) => {
    const values = readSignedVarints(bytes || new Uint8Array(0));
    for (let i = 0; i < values.length; i++) values[i] += illNode[i];
    return values;
  };
  return {
    radius: numbers(present(raw.radius, 'radius')),
    parentDistance: numbers(present(raw.parent_distance, 'parent_distance')),
    margin: numbers(present(raw.margin, 'margin')),
    near: raw.near ? readSignedVarints(raw.near) : null, // differences to the node itself; 0 for none
    nearDistance: numbers(raw.near_distance),
    column: raw.column && numbers(raw.column),
    ill: {
      node: illNode,
      positive: fromNode(raw.ill_positive),
      offender: fromNode(raw.ill_offender),
      kind: raw.ill_kind || new Uint8Array(0),
      distance: numbers(raw.ill_distance),
      offenderDistance: numbers(raw.ill_offender_distance),
      ...pairsOfNodes(illNode),
    },
  };
}

// For each node the first of its ill pairs, and for each pair the next of the same node; -1 ends a list.
/** @param {Ints} illNode */
function pairsOfNodes(illNode) {
  const firstPair = new Int32Array(summary.nodes).fill(-1);
  const nextPair = new Int32Array(illNode.length).fill(-1);
  for (let pair = illNode.length - 1; pair >= 0; pair--) {
    nextPair[pair] = firstPair[illNode[pair]];
    firstPair[illNode[pair]] = pair;
  }
  return { firstPair, nextPair };
}
