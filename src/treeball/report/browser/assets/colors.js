// What colours stand for. Okabe and Ito's colours stay apart for the colour-blind; red is kept for what is ill.

const THEMES = {
  light: {
    ground: '#f6f5f1', disk: '#ffffff', rim: '#d9d6cd', ink: '#1d2733', faint: '#5d6875', halo: '#ffffff',
    groups: ['#0072b2', '#d98e00', '#009e73', '#3d9fd6', '#a86fc0', '#7a7a2e', '#4a5a6a', '#b98b5e'],
    other: '#9aa0a6',
    kinds: ['#f0231a', '#ff8a66', '#a0000f'],
    ramp: ['#440154', '#46327e', '#365c8d', '#277f8e', '#1fa187', '#4ac16d', '#8fc93f'],
    edge: 0.62,
  },
  dark: {
    ground: '#0d1117', disk: '#121821', rim: '#2a3442', ink: '#e8edf3', faint: '#9aa7b5', halo: '#121821',
    groups: ['#4fb0ea', '#f2b33d', '#2fcb9c', '#9ad7fb', '#d0a0e6', '#c3c35f', '#a9b8c6', '#dfb187'],
    other: '#6d7885',
    kinds: ['#ff5c4f', '#ffae95', '#e0284a'],
    ramp: ['#5b6bc0', '#3f8fb8', '#2fae9f', '#4cc76f', '#9bd93c', '#e3e418', '#fdf3a7'],
    edge: 0.7,
  },
};

const KIND_NAMES = ['capacity', 'intra-subtree', 'inter-subtree'];
const MOST_GROUPS = 8;
const LEAST_GROUP = 0.02; // of the tree, to get a colour
const LARGE_GROUP = 0.34; // of the tree, to be divided
const LEFT_OVER = 0.1; // of a divided group, to keep its colour

/** @param {string} hex @returns {Color} */
function rgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// A colour of a ramp at t from 0 to 1.
/** @param {string[]} ramp @param {number} t @returns {Color} */
function rampColor(ramp, t) {
  const at = Math.min(1, Math.max(0, t)) * (ramp.length - 1);
  const low = Math.min(ramp.length - 2, Math.floor(at));
  const [a, b] = [rgb(ramp[low]), rgb(ramp[low + 1])];
  return a.map((value, i) => Math.round(value + (b[i] - value) * (at - low)));
}

// The largest subtrees below `top`: one that is too large to tell anything is divided into its own branches, and keeps
// its colour for what is left of it when that is much.
/** @param {Tree} tree @param {number} top */
function largestSubtrees(tree, top) {
  const total = tree.size[top];
  /** @param {number} node */
  const parts = (node) => {
    const below = [];
    for (let child = tree.first[node]; child < tree.first[node + 1]; child++) {
      if (tree.size[child] >= LEAST_GROUP * total) below.push({ node: child, own: tree.size[child], isWhole: true });
    }
    return below.sort((a, b) => b.own - a.own).slice(0, MOST_GROUPS);
  };
  let groups = parts(top);
  for (;;) {
    const large = groups.find(({ node, own, isWhole }) => isWhole && own > LARGE_GROUP * total && parts(node).length);
    if (!large) return groups.map(({ node }) => node);
    const divided = parts(large.node);
    large.isWhole = false;
    large.own -= divided.reduce((sum, { own }) => sum + own, 0);
    const kept = groups.filter((one) => one !== large || large.own > LEFT_OVER * tree.size[large.node]);
    groups = [...kept, ...divided].sort((a, b) => b.own - a.own).slice(0, MOST_GROUPS);
  }
}

/** @param {Tree} tree @param {number[]} tops */
function groupNodes(tree, tops) {
  const none = tops.length;
  const group = new Uint8Array(tree.n).fill(none);
  tops.forEach((top, number) => { group[top] = number; });
  for (let i = 1; i < tree.n; i++) if (group[i] === none) group[i] = group[tree.parent[i]];
  return group;
}

// Ends of a scale that a few extreme values cannot stretch.
/** @param {ArrayLike<number>} values @returns {[number, number]} */
function usefulRange(values) {
  const step = Math.max(1, Math.floor(values.length / 20000));
  const some = [];
  for (let i = 0; i < values.length; i += step) if (Number.isFinite(values[i])) some.push(values[i]);
  some.sort((a, b) => a - b);
  if (!some.length) return [0, 1];
  const low = some[Math.floor(0.01 * (some.length - 1))];
  const high = some[Math.ceil(0.99 * (some.length - 1))];
  return low < high ? [low, high] : [some[0], some[some.length - 1] > some[0] ? some[some.length - 1] : some[0] + 1];
}

// A colouring has a title, a swatch per entry or a scale for its legend, and an index into a palette for each node.
/** @param {Tree} tree @param {Facts} facts @returns {Record<string, Colouring>} */
function makeColourings(tree, facts) {
  /** @type {Record<string, Colouring>} */
  const colourings = {
    subtree: bySubtree(tree, 0),
    depth: scaled('Depth', tree.depth, [0, Math.max(1, tree.depth[tree.n - 1])], 0),
  };
  colourings.radius = scaled('Distance from the origin', facts.radius, usefulRange(facts.radius), 1);
  colourings.illness = byIllness(tree, facts);
  if (facts.column && summary.column) {
    const { name, categories } = summary.column;
    colourings.column = categories
      ? byCategory(name, facts.column, categories)
      : scaled(name, facts.column, usefulRange(facts.column), 2);
  }
  return colourings;
}

/** @param {Tree} tree @param {number} top @returns {Colouring} */
function bySubtree(tree, top) {
  const nodes = largestSubtrees(tree, top);
  return {
    title: 'Subtree',
    index: groupNodes(tree, nodes),
    entries: [...nodes.map((node) => labelOf(tree, node)), 'other'],
    nodes,
    palette: (theme) => [...nodes.map((_, i) => theme.groups[i]), theme.other].map(rgb),
  };
}

/**
 * @param {string} title
 * @param {ArrayLike<number>} values
 * @param {[number, number]} ends
 * @param {number} digits
 * @returns {Colouring}
 */
function scaled(title, values, [low, high], digits) {
  const index = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const t = (values[i] - low) / (high - low);
    index[i] = Number.isNaN(t) ? 255 : Math.round(254 * Math.min(1, Math.max(0, t)));
  }
  return {
    title, index, range: [low, high], digits,
    palette: (theme) => {
      const colors = Array.from({ length: 255 }, (_, i) => rampColor(theme.ramp, i / 254));
      return [...colors, rgb(theme.other)];
    },
  };
}

/** @param {string} title @param {ArrayLike<number>} values @param {string[]} categories @returns {Colouring} */
function byCategory(title, values, categories) {
  const index = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) index[i] = Number.isNaN(values[i]) ? categories.length : values[i];
  return {
    title, index, entries: [...categories, 'no value'],
    palette: (theme) => [...categories.map((_, i) => theme.groups[i % theme.groups.length]), theme.other].map(rgb),
  };
}

/** @param {Tree} tree @param {Facts} facts @returns {Colouring} */
function byIllness(tree, facts) {
  const index = new Uint8Array(tree.n).fill(3);
  if (summary.sampled) for (let i = 0; i < tree.n; i++) if (Number.isNaN(facts.margin[i])) index[i] = 4;
  const { node, kind } = facts.ill;
  for (let pair = node.length - 1; pair >= 0; pair--) index[node[pair]] = kind[pair];
  return {
    title: 'Illness',
    index,
    entries: [...KIND_NAMES, 'well', ...(summary.sampled ? ['not measured'] : [])],
    palette: (theme) => [...theme.kinds, theme.groups[0], theme.other].map(rgb),
  };
}
