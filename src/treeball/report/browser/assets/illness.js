// The list of ill pairs, by kind, the worst first; choosing one flies there and draws it.

const PAIRS_AT_ONCE = 60;

/** @param {App} app */
function startIllness(app) {
  const { ill } = app.facts;
  const { shownKinds } = app;
  let shown = PAIRS_AT_ONCE;
  const byKind = [0, 1, 2].map((kind) => ill.kind.reduce((sum, one) => sum + Number(one === kind), 0));
  const list = make('ul', { class: 'pairs' });
  const more = make('button', { type: 'button', class: 'wide', onclick: () => { shown += PAIRS_AT_ONCE; fill(); } },
    'Show more');

  const chosen = make('p', { class: 'ill', hidden: '' });

  /** @param {number} kind */
  function filterBox(kind) {
    const box = make('input', { type: 'checkbox', id: `kind-${kind}`, checked: '',
      onchange: () => { shownKinds[kind] = box.checked; shown = PAIRS_AT_ONCE; fill(); app.redraw(); } });
    const total = summary.illness[KIND_NAMES[kind].replace('-', '_')];
    return make('li', { class: `kind-${kind}` }, box,
      make('label', { for: `kind-${kind}` },
        make('span', { class: 'swatch', 'aria-hidden': 'true' }),
        make('span', { class: 'name' }, KIND_NAMES[kind]),
        make('span', { class: 'value' }, total.toLocaleString('en')),
        make('span', { class: 'note' }, SENTENCES[kind].split(':')[0])));
  }

  /** @param {number} pair */
  function row(pair) {
    const { tree } = app;
    const [a, b, wrong] = [ill.node[pair], ill.positive[pair], ill.offender[pair]];
    return make('li', {}, make('button', { type: 'button', class: `pair kind-${ill.kind[pair]}`, 'data-pair': pair,
      onclick: () => app.showPair(pair) },
    make('span', { class: 'swatch', 'aria-hidden': 'true' }),
    make('span', { class: 'name' }, fullName(tree, a)),
    make('span', { class: 'value' }, decimals(ill.offenderDistance[pair] - ill.distance[pair]).replace('-', '−')),
    make('span', { class: 'note' }, `${fullName(tree, wrong)} is ${closeness(ill, pair)} ${fullName(tree, b)}`)));
  }

  function fill() {
    const rows = [];
    let pair = 0;
    for (; pair < ill.node.length && rows.length < shown; pair++) if (shownKinds[ill.kind[pair]]) rows.push(row(pair));
    while (pair < ill.node.length && !shownKinds[ill.kind[pair]]) pair++;
    list.replaceChildren(...rows);
    more.hidden = pair >= ill.node.length;
    markChosen();
  }

  function markChosen() {
    const pair = app.highlight ? app.highlight.pair : -1;
    chosen.hidden = pair < 0;
    if (pair >= 0) chosen.textContent = `${fullName(app.tree, ill.node[pair])}: ${pairText(app, pair)}.`;
    for (const button of list.querySelectorAll('button')) {
      if (Number(button.dataset.pair) === pair) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    }
  }
  app.markChosenPair = markChosen;
  app.showIllness = () => {};

  /** @type {HTMLElement[]} */
  const parts = [make('h2', {}, 'Ill pairs'), make('p', { class: 'lead' }, illnessSummary())];
  if (ill.node.length) {
    const show = make('input', { type: 'checkbox', id: 'show-ill', onchange: () => {
      app.showsIllness = show.checked;
      app.redraw();
    } });
    app.showIllness = (isShown) => { app.showsIllness = show.checked = isShown; };
    show.checked = app.showsIllness;
    parts.push(make('p', { class: 'switch' }, show, make('label', { for: 'show-ill' }, 'Draw ill pairs in red')));
    parts.push(make('fieldset', {}, make('legend', {}, 'Kinds'),
      make('ul', { class: 'kinds' }, ...[0, 1, 2].filter((kind) => byKind[kind]).map(filterBox))));
    parts.push(chosen, make('h3', {}, 'Worst first'), list, more);
    fill();
  }
  byId('pane-illness').replaceChildren(...parts);
  byId('tab-illness').append(make('span', { class: 'badge' }, totalIll().toLocaleString('en')));
}

function totalIll() {
  return Object.values(summary.illness).reduce((sum, one) => sum + one, 0);
}

function illnessSummary() {
  const total = totalIll();
  const pairs = summary.pairs;
  if (!pairs) return 'No node has a parent, so no pair can be ill.';
  const among = summary.sampled
    ? `of ${count(pairs, 'pair')} of ${count(summary.sampled.nodes, 'sampled node')}` : `of ${count(pairs, 'pair')}`;
  if (!total) return `Not one ${among} is ill: every node is closest to where it belongs.`;
  const listed = summary.listed < total ? ` The worst ${summary.listed.toLocaleString('en')} are here.` : '';
  return `${total.toLocaleString('en')} ${among} ${total === 1 ? 'is' : 'are'} ill: some other node is at least as close as `
    + `the ${summary.objective === 'ancestors' ? 'ancestor' : 'parent'}. In the picture the pair is red, and a dashed line leads `
    + `to the node that is too close.${listed}`;
}
