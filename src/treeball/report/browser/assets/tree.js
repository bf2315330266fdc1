// The tree: nodes are numbered level by level, so that the children of i are first[i] .. first[i + 1] - 1.

const LONGEST_LABEL = 26;
// Characters that a browser hides or obeys, so that two names look alike or one reverses what is beside it. They are
// the ones that treeball.words.printable writes out, but for white space, which a page shows as a blank.
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\x00-\x08\x0e-\x1f\x7f-\x9f]/gu;

/** @param {TreeParts} parts @returns {Tree} */
function makeTree({ childCount, nameBytes, idBytes, angle, length, otherChild, otherParent }) {
  const n = childCount.length;
  const first = new Int32Array(n + 1);
  const parent = new Int32Array(n).fill(-1);
  const depth = new Int32Array(n);
  first[0] = 1;
  for (let i = 0; i < n; i++) {
    first[i + 1] = first[i] + childCount[i];
    for (let child = first[i]; child < first[i + 1]; child++) {
      parent[child] = i;
      depth[child] = depth[i] + 1;
    }
  }
  const size = new Int32Array(n).fill(1);
  for (let i = n - 1; i > 0; i--) size[parent[i]] += size[i];
  const names = makeNames(nameBytes, n);
  return {
    n, first, parent, depth, size, otherChild, otherParent,
    steps: makeSteps(angle, length),
    angle,
    length,
    spread: -1, // the node whose children are spread over the full circle
    reach: makeReach(parent, length),
    keep: makeKeep(n, first, parent),
    names,
    ids: idBytes ? makeNames(idBytes, n) : names,
  };
}

// The step from a parent's frame to its child's: cosine and sine of half the turn, cosh and sinh of half the length.
/** @param {Floats} angle @param {Floats} length */
function makeSteps(angle, length) {
  const steps = new Float64Array(4 * angle.length);
  for (let i = 0; i < angle.length; i++) {
    steps[4 * i] = Math.cos(angle[i] / 2);
    steps[4 * i + 1] = Math.sin(angle[i] / 2);
    steps[4 * i + 2] = Math.cosh(length[i] / 2);
    steps[4 * i + 3] = Math.sinh(length[i] / 2);
  }
  return steps;
}

// In the companion a subtree opens away from its parent; shown alone it has none, and may use the whole circle.
/** @param {Tree} tree @param {number} top */
function spreadChildren(tree, top) {
  /** @param {number} node @param {number} factor */
  const turnChildren = (node, factor) => {
    for (let child = tree.first[node]; child < tree.first[node + 1]; child++) {
      tree.steps[4 * child] = Math.cos((factor * tree.angle[child]) / 2);
      tree.steps[4 * child + 1] = Math.sin((factor * tree.angle[child]) / 2);
    }
  };
  if (tree.spread >= 0) turnChildren(tree.spread, 1);
  tree.spread = -1;
  const first = tree.first[top];
  const { picture } = summary;
  if (picture === null || top === 0 || tree.angle[first] === 0) return;
  // The outermost child stands in the middle of its share: that gives the half angle of the cone.
  const weight = leafCounts(tree).subarray(first, tree.first[top + 1]).map((leaves) => leaves ** picture.power);
  const cone = -tree.angle[first] / (1 - weight[0] / weight.reduce((sum, one) => sum + one, 0));
  turnChildren(top, Math.max(1, Math.PI / cone));
  tree.spread = top;
}

/** @param {Tree} tree */
function leafCounts(tree) {
  const leaves = new Float64Array(tree.n);
  for (let i = tree.n - 1; i >= 0; i--) {
    if (tree.first[i] === tree.first[i + 1]) leaves[i] = 1;
    if (i > 0) leaves[tree.parent[i]] += leaves[i];
  }
  return leaves;
}

// How far below a node its descendants can be: where vectors are shown as they are, a far node's child may be near.
/** @param {Ints} parent @param {Floats} length */
function makeReach(parent, length) {
  const reach = new Float32Array(parent.length);
  for (let i = parent.length - 1; i > 0; i--) {
    const up = parent[i];
    if (reach[i] + length[i] > reach[up]) reach[up] = reach[i] + length[i];
  }
  return reach;
}

// A number from 0 to 1: nodes below a limit are a random share of the leaves together with all their ancestors.
/** @param {number} n @param {Ints} first @param {Ints} parent */
function makeKeep(n, first, parent) {
  const keep = new Float32Array(n).fill(1);
  for (let i = n - 1; i > 0; i--) {
    if (first[i] === first[i + 1]) keep[i] = ((Math.imul(i, 0x9e3779b1) >>> 8) & 0xffff) / 0x10000;
    if (keep[i] < keep[parent[i]]) keep[parent[i]] = keep[i];
  }
  return keep;
}

/** @param {Bytes} bytes @param {number} n @returns {Names} */
function makeNames(bytes, n) {
  const decoder = new TextDecoder();
  const begin = new Uint32Array(n + 1);
  let line = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) begin[++line] = at + 1;
  begin[n] = bytes.length + 1;
  const known = new Map();
  /** @type {{ text: string, begin: Uint32Array } | null} */
  let lower = null;
  return {
    of(i) {
      let name = known.get(i);
      if (name === undefined) {
        name = decoder.decode(bytes.subarray(begin[i], begin[i + 1] - 1));
        if (known.size > 20000) known.clear();
        known.set(i, name);
      }
      return name;
    },
    // The node of exactly this name, or -1.
    find(name) {
      const wanted = new TextEncoder().encode(name);
      for (let i = 0; i < n; i++) {
        if (begin[i + 1] - begin[i] !== wanted.length + 1) continue;
        let k = 0;
        while (k < wanted.length && bytes[begin[i] + k] === wanted[k]) k++;
        if (k === wanted.length) return i;
      }
      return -1;
    },
    // All names in lower case, one on a line, and where each begins; made when first asked for.
    inLowerCase() {
      if (lower === null) {
        const text = decoder.decode(bytes).toLowerCase();
        const starts = new Uint32Array(n + 1);
        for (let i = 1, at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts[i++] = at + 1;
        starts[n] = text.length + 1;
        lower = { text, begin: starts };
      }
      return lower;
    },
  };
}

// From the root down to the node, itself included.
/** @param {Tree} tree @param {number} node */
function pathTo(tree, node) {
  const path = [];
  for (let at = node; at >= 0; at = tree.parent[at]) path.push(at);
  return path.reverse();
}

/** @param {Tree} tree @param {number} node @param {number} top */
function isWithin(tree, node, top) {
  let at = node;
  while (at > top) at = tree.parent[at]; // ancestors have smaller numbers
  return at === top;
}

// Nodes from a to b along the tree.
/** @param {Tree} tree @param {number} a @param {number} b */
function pathBetween(tree, a, b) {
  const up = [];
  const down = [];
  while (a !== b) {
    if (a > b) {
      up.push(a);
      a = tree.parent[a];
    } else {
      down.push(b);
      b = tree.parent[b];
    }
  }
  return [...up, a, ...down.reverse()];
}

// Text with hidden characters written out as Python does: \u200b.
/** @param {string} text */
function visible(text) {
  return text.replace(HIDDEN, (letter) => {
    const code = letter.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
  });
}

// Parents of a node, the one that it is drawn below first; in a tree there is one, for the root none.
/** @param {Tree} tree @param {number} node */
function parentsOf(tree, node) {
  const parents = tree.parent[node] < 0 ? [] : [tree.parent[node]];
  for (let i = 0; i < tree.otherChild.length; i++) if (tree.otherChild[i] === node) parents.push(tree.otherParent[i]);
  return parents;
}

// Children of a node, those that are drawn below it first, then those that are drawn below another parent.
/** @param {Tree} tree @param {number} node */
function childrenOf(tree, node) {
  const children = [];
  for (let child = tree.first[node]; child < tree.first[node + 1]; child++) children.push(child);
  for (let i = 0; i < tree.otherParent.length; i++) if (tree.otherParent[i] === node) children.push(tree.otherChild[i]);
  return children;
}

// How many nodes are below a node, each counted once, also those that are drawn below another parent.
/** @param {Tree} tree @param {number} node */
function descendantsOf(tree, node) {
  const { first, otherChild, otherParent } = tree;
  if (!otherChild.length || !node) return tree.size[node] - 1;
  const found = new Set([node]);
  const waiting = [node];
  /** @param {number} child */
  const add = (child) => {
    if (!found.has(child)) waiting.push(child);
    found.add(child);
  };
  for (let top = waiting.pop(); top !== undefined; top = waiting.pop()) {
    for (let child = first[top]; child < first[top + 1]; child++) add(child);
    if (waiting.length) continue;
    for (let i = 0; i < otherChild.length; i++) if (found.has(otherParent[i])) add(otherChild[i]);
  }
  return found.size - 1;
}

// A node in words: its label with its id, or its name alone.
/** @param {Tree} tree @param {number} node */
function fullName(tree, node) {
  const name = tree.names.of(node);
  const id = tree.ids.of(node);
  return visible(name === id ? name : `${name} [${id}]`);
}

// What is left of a name when its parent's is taken off the front ("Pets > Dogs" below "Pets"), and WordNet's tail.
/** @param {Tree} tree @param {number} node */
function shortName(tree, node) {
  let name = tree.names.of(node);
  const up = tree.parent[node];
  if (up >= 0) {
    const above = tree.names.of(up);
    if (name.length > above.length && name.startsWith(above)) {
      const rest = name.slice(above.length).match(/^\s*(?:>|\/|\||::|»|→|›)\s*(\S.*)$/su);
      if (rest) name = rest[1];
    }
  }
  const synset = name.match(/^(.+)\.[nvasr]\.\d+$/su);
  return visible(synset ? synset[1].replaceAll('_', ' ') : name);
}

/** @param {Tree} tree @param {number} node */
function labelOf(tree, node) {
  const name = shortName(tree, node).replace(/\s+/gu, ' ').trim();
  const letters = Array.from(name);
  return letters.length <= LONGEST_LABEL ? name : letters.slice(0, LONGEST_LABEL - 1).join('').trimEnd() + '…';
}
