// What is known about a node: the card under the pointer, and the panel of the node in focus.

const MOST_CHILDREN = 60;
const SENTENCES = [
  'another child of the same parent is closer: there is too little room around the parent',
  'a deeper node of the same subtree is closer: the subtree folds back on itself',
  'a node of another subtree is closer: two subtrees are entangled',
];

/** @param {App} app @param {number} node @returns {[number, number][]} */
function nearestTo(app, node) {
  const k = summary.nearest;
  const { near, nearDistance } = app.facts;
  /** @type {[number, number][]} */
  const result = [];
  for (let i = k * node; near && i < k * (node + 1); i++) {
    if (near[i] !== 0) result.push([node + near[i], nearDistance[i]]);
  }
  return result;
}

/** @param {App} app @param {number} node */
function marginText(app, node) {
  const margin = app.facts.margin[node];
  if (Number.isNaN(margin)) return summary.sampled && node > 0 ? 'not in the sample' : '–';
  return `${margin > 0 ? '+' : margin < 0 ? '−' : ''}${decimals(Math.abs(margin))}`;
}

/** @param {App} app @param {number} node @returns {[string, string][]} */
function factRows(app, node) {
  const { tree, facts } = app;
  const children = childrenOf(tree, node).length;
  const positives = summary.objective === 'ancestors' ? 'ancestors' : 'parent';
  return [
    ['Level', String(tree.depth[node] + (summary.part?.above.length ?? 0))],
    ['Children', ofAll(children, app.part?.children[node])],
    ['Below it', ofAll(descendantsOf(tree, node), app.part?.below[node])],
    ...lengthRows(app, node),
    ['Distance to parent', node ? decimals(facts.parentDistance[node]) : '–'],
    ['Distance from origin', decimals(facts.radius[node])],
    [`Margin of its ${positives}`, marginText(app, node)],
    ...columnRow(app, node),
  ];
}

// Lengths in the hierarchy, where the picture is to scale of them.
/** @param {App} app @param {number} node @returns {[string, string][]} */
function lengthRows(app, node) {
  const about = summary.to_scale;
  if (!app.flat || !about?.has_lengths) return [];
  const depth = pathTo(app.tree, node).reduce((sum, one) => sum + app.lengthOf(one), 0);
  const age = about.height - depth > 1e-6 * about.height ? about.height - depth : 0; // lengths have 7 digits
  const isRoot = node === 0 || (summary.virtual_root && app.tree.parent[node] === 0);
  return [['Length of its edge', isRoot ? '–' : plain(app.lengthOf(node))],
    about.is_dated ? ['Before the tips', plain(age)] : ['From the root', plain(depth)]];
}

/** @param {number} value */
function plain(value) {
  return String(Number(value.toPrecision(4)));
}

/** @param {App} app @param {number} node @returns {[string, string][]} */
function columnRow(app, node) {
  const { column } = summary;
  if (!app.facts.column || !column) return [];
  const value = app.facts.column[node];
  if (Number.isNaN(value)) return [[column.name, 'no value']];
  return [[column.name, column.categories ? column.categories[value] : String(Number(value.toPrecision(4)))]];
}

/** @param {[string, string][]} rows */
function factList(rows) {
  return make('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
}

// Words for the worst ill pair of a node, or null.
/** @param {App} app @param {number} node */
function illnessText(app, node) {
  const pair = app.facts.ill.firstPair[node];
  return pair < 0 ? null : pairText(app, pair);
}

/** @param {App} app @param {number} pair */
function pairText(app, pair) {
  const { ill } = app.facts;
  const { tree } = app;
  const offender = fullName(tree, ill.offender[pair]);
  return `${KIND_NAMES[ill.kind[pair]]} illness: ${offender} (${decimals(ill.offenderDistance[pair])}) `
    + `is ${closeness(ill, pair)} ${fullName(tree, ill.positive[pair])} (${decimals(ill.distance[pair])})`;
}

// Ties count against the model, but should not be called closer.
/** @param {Ill} ill @param {number} pair */
function closeness(ill, pair) {
  return ill.distance[pair] - ill.offenderDistance[pair] < 5e-4 ? 'as close as' : 'closer than';
}

// ---- the card under the pointer ----

/** @param {App} app @param {number} node @param {number} px @param {number} py */
function showCard(app, node, px, py) {
  const card = byId('card');
  if (node < 0) {
    card.hidden = true;
    return;
  }
  if (Number(card.dataset.node) !== node || card.hidden) {
    card.dataset.node = String(node);
    card.replaceChildren(...cardContent(app, node));
    card.hidden = false;
  }
  const { width, height } = card.getBoundingClientRect();
  const right = app.area.right;
  const x = px + 18 + width < right ? px + 18 : Math.max(8, px - 18 - width);
  const y = Math.min(Math.max(8, py - 20), app.height - height - 8);
  card.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}

/** @param {App} app @param {number} node */
function cardContent(app, node) {
  const { tree, facts } = app;
  const path = pathTo(tree, node).slice(0, -1);
  const shown = path.length > 5 ? [path[0], -1, ...path.slice(-3)] : path;
  const trail = shown.map((at) => (at < 0 ? '…' : shortName(tree, at))).join(' › ');
  /** @type {HTMLElement[]} */
  const parts = [make('strong', {}, fullName(tree, node))];
  if (trail) parts.push(make('p', { class: 'trail' }, trail));
  const others = parentsOf(tree, node).slice(1).map((other) => shortName(tree, other));
  if (others.length) parts.push(make('p', { class: 'trail' }, `also below ${others.join(', ')}`));
  parts.push(factList([
    ...lengthRows(app, node),
    ['To parent', node ? decimals(facts.parentDistance[node]) : '–'],
    ['Margin', marginText(app, node)],
    ...columnRow(app, node),
  ]));
  const ill = illnessText(app, node);
  if (ill) parts.push(make('p', { class: 'ill' }, ill));
  const near = nearestTo(app, node);
  if (near.length) {
    parts.push(make('p', { class: 'heading' }, 'Nearest'));
    parts.push(make('ol', { class: 'near' }, ...near.map(([other, distance]) => make('li', {},
      make('span', { class: 'name' }, fullName(tree, other) + relation(tree, node, other)),
      make('span', { class: 'value' }, decimals(distance))))));
  }
  return parts;
}

/** @param {Tree} tree @param {number} node @param {number} other */
function relation(tree, node, other) {
  if (parentsOf(tree, node).includes(other)) return ' · parent';
  if (parentsOf(tree, other).includes(node)) return ' · child';
  return tree.parent[other] === tree.parent[node] ? ' · sibling' : '';
}

// How many nodes are below one in the whole model.
/** @param {App} app @param {number} node */
function countBelow(app, node) {
  return app.part ? app.part.below[node] : descendantsOf(app.tree, node);
}

// ---- the panel ----

/** @param {App} app */
function showDetails(app) {
  const { tree, focus } = app;
  /** @type {HTMLElement[]} */
  const parts = [make('h2', {}, fullName(tree, focus))];
  if (focus === 0 && summary.virtual_root) parts.push(make('p', { class: 'note' }, 'Added to join several roots.'));
  parts.push(factList(factRows(app, focus)), ...parentList(app, focus));
  const pair = app.facts.ill.firstPair[focus];
  if (pair >= 0) {
    parts.push(make('p', { class: 'ill' }, pairText(app, pair)));
    parts.push(make('p', { class: 'note' }, `That is, ${SENTENCES[app.facts.ill.kind[pair]]}.`));
    parts.push(make('button', { type: 'button', class: 'wide', onclick: () => app.showPair(pair) }, 'Show the ill pair'));
  }
  if (focus !== 0) {
    const isOpen = app.top === focus;
    parts.push(make('button', { type: 'button', class: 'wide', onclick: () => app.openSubtree(isOpen ? 0 : focus) },
      isOpen ? 'Show the whole tree' : 'Show only this subtree'));
  }
  parts.push(...wayBelow(app, focus));
  const near = nearestTo(app, focus);
  if (near.length) {
    parts.push(make('h3', {}, summary.part ? 'Nearest of the nodes shown' : 'Nearest nodes'));
    parts.push(make('ul', { class: 'nodes' }, ...near.map(([other, distance]) => make('li', {},
      nodeButton(app, other, decimals(distance) + relation(tree, focus, other))))));
  }
  parts.push(...childList(app, focus));
  byId('pane-node').replaceChildren(...parts);
}

// All parents of a node that has several; the path above the picture goes through the first.
/** @param {App} app @param {number} node @returns {HTMLElement[]} */
function parentList(app, node) {
  const parents = parentsOf(app.tree, node);
  if (parents.length < 2) return [];
  return [make('h3', {}, count(parents.length, 'parent')),
    make('ul', { class: 'nodes', id: 'parents' }, ...parents.map((parent, i) => make('li', {},
      nodeButton(app, parent, i ? '' : 'drawn below'))))];
}

/** @param {App} app @param {number} node @returns {HTMLElement[]} */
function childList(app, node) {
  const { tree } = app;
  const children = childrenOf(tree, node);
  if (!children.length) return [];
  children.sort((a, b) => countBelow(app, b) - countBelow(app, a));
  const shown = children.slice(0, MOST_CHILDREN).map((child) => make('li', {},
    nodeButton(app, child, countBelow(app, child) ? countBelow(app, child).toLocaleString('en') : '')));
  const rest = children.length - shown.length;
  if (rest > 0) shown.push(make('li', { class: 'note' }, `and ${count(rest, 'more')}`.replace('mores', 'more')));
  const all = app.part?.children[node] ?? children.length;
  const few = all > children.length ? `${children.length.toLocaleString('en')} of ` : '';
  return [make('h3', {}, few + count(all, 'child').replace('childs', 'children')),
    make('ul', { class: 'nodes' }, ...shown)];
}
