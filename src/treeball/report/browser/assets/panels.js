// The page around the picture: tabs, breadcrumb, legend, what the picture is, theme.

const MOST_CRUMBS = 200; // a chain of thousands has the root and its end

/** @param {App} app */
function startTabs(app) {
  const tabs = ['node', 'illness', 'about'].map((name) => byId(`tab-${name}`));
  /** @param {HTMLElement} tab @param {boolean} takesFocus */
  function choose(tab, takesFocus) {
    for (const one of tabs) {
      const isChosen = one === tab;
      one.setAttribute('aria-selected', String(isChosen));
      one.tabIndex = isChosen ? 0 : -1;
      byId(`pane-${one.id.slice('tab-'.length)}`).hidden = !isChosen;
    }
    if (takesFocus) tab.focus();
  }
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => choose(tab, false));
    tab.addEventListener('keydown', (event) => {
      const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (step) choose(tabs[(i + step + tabs.length) % tabs.length], true);
    });
  });
  app.chooseTab = (name) => choose(byId(`tab-${name}`), false);
  const toggle = byId('toggle-panel');
  app.showPanel = (isShown) => {
    document.body.classList.toggle('no-panel', !isShown);
    toggle.setAttribute('aria-expanded', String(isShown));
    app.resize();
  };
  toggle.addEventListener('click', () => app.showPanel(document.body.classList.contains('no-panel')));
}

/** @param {App} app */
function showCrumbs(app) {
  const { tree, focus, top } = app;
  const path = pathTo(tree, focus);
  const isCut = path.length > MOST_CRUMBS;
  const shown = isCut ? [path[0], ...path.slice(1 - MOST_CRUMBS)] : path;
  const items = [...crumbsAbove(), ...shown.map((node) => {
    const isHere = node === focus;
    const button = make('button', { type: 'button', title: fullName(tree, node), 'aria-current': isHere ? 'location' : null,
      onclick: () => app.goTo(node) }, labelOf(tree, node));
    return make('li', { class: node === top && top !== 0 ? 'top' : '' }, button);
  })];
  if (isCut) items.splice(items.length - shown.length + 1, 0, make('li', {}, '…'));
  const list = byId('crumbs');
  list.replaceChildren(...items);
  list.closest('nav')?.scrollTo({ left: list.scrollWidth });
  const chip = byId('scope');
  chip.hidden = top === 0;
  if (top !== 0) byId('scope-name').textContent = labelOf(tree, top);
}

/** @param {App} app */
function startLegend(app) {
  const select = byId('colour');
  for (const [key, colouring] of Object.entries(app.colourings)) {
    select.append(make('option', { value: key }, colouring.title));
  }
  select.value = app.colouring;
  select.addEventListener('change', () => app.colourBy(select.value));
}

/** @param {App} app */
function showLegend(app) {
  const colouring = app.colourings[app.colouring];
  const colors = app.palette.map((color) => `rgb(${color.join(',')})`);
  const legend = byId('legend-entries');
  if (colouring.entries) {
    legend.replaceChildren(...colouring.entries.map((name, i) => {
      const swatch = make('span', { class: 'swatch', 'aria-hidden': 'true' });
      swatch.style.background = colors[i];
      const target = colouring.nodes?.[i];
      if (target === undefined) return make('li', {}, swatch, make('span', { class: 'name' }, name));
      return make('li', {}, make('button', { type: 'button', onclick: () => app.goTo(target) }, swatch,
        make('span', { class: 'name' }, name)));
    }));
    return;
  }
  const bar = make('span', { class: 'ramp', 'aria-hidden': 'true' });
  bar.style.background = `linear-gradient(to right, ${app.theme.ramp.join(',')})`;
  const [low, high] = (colouring.range || []).map((value) => decimals(value, colouring.digits));
  legend.replaceChildren(make('li', { class: 'scale' }, make('span', {}, low), bar, make('span', {}, high)));
}

// What the page shows and how faithful the picture is.
/** @param {App} app */
function describe(app) {
  const { picture, dim, geometry, method, to_scale: toScale, part } = summary;
  const few = summary.nodes.toLocaleString('en');
  byId('facts').textContent = [part ? `${few} of ${rounded(part.nodes)} nodes` : count(summary.nodes, 'node'), `dimension ${dim}`,
    summary.map === null ? null : `MAP ${decimals(summary.map)}${part ? ' of these' : ''}`].filter(Boolean).join(' · ');
  const lines = [];
  if (app.flat && toScale) {
    lines.push(layoutText(toScale, app.flat.kind));
  } else if (picture === null) {
    lines.push('The picture is the model itself: its vectors in the Poincaré disk, where lines between nodes are arcs of '
      + 'circles that meet the rim at right angles.');
  } else {
    const score = picture.map === null ? '' : ` As an embedding of its own the companion has MAP ${decimals(picture.map)}`
      + ` (${count(picture.sample, 'node')}${picture.sample < summary.nodes - 1 ? ' sampled' : ''}); `
      + `the model has ${decimals(summary.map)}.`;
    lines.push(`The picture is a 2-d companion: the vectors have ${dim} ${geometry === 'euclidean' ? 'Euclidean ' : ''}`
      + `dimensions, which no screen shows, so the tree is drawn in the hyperbolic plane.${score} Distances, neighbours, `
      + 'margins and illness are those of the real vectors.');
  }
  if (part) {
    lines.push(` The page shows ${few} of the ${count(part.nodes, 'node')} of ${part.model}, level by level, each below its primary `
      + 'parent; scores, neighbours, margins and illness are among the nodes shown. '
      + `treeball evaluate ${quoted(part.model)} ranks nodes among all.`);
  }
  /** @type {[string, string][]} */
  const rows = [['Nodes', ofAll(summary.nodes, part?.nodes)], ['Edges', summary.edges.toLocaleString('en')],
    ['Geometry', geometry], ['Dimension', String(dim)], ['Method', method || 'unknown'], ['Objective', summary.objective],
    ['MAP', decimals(summary.map, 4)], ['Mean rank', decimals(summary.mean_rank, 3)],
    ['Hits@1', decimals(summary.hits_at_1, 4)], ['Largest radius', decimals(summary.max_radius, 2)]];
  if (summary.sampled) rows.push(['Scores from', count(summary.sampled.nodes, 'sampled node')]);
  /** @type {[string, string][]} */
  const keys = [['Drag', 'move'], ['Wheel, + and −', 'zoom'], ['Click', app.flat ? 'choose a node' : 'bring to the middle'],
    ['Double click, Enter', 'only this subtree'], ['↑ ↓', 'parent, child'], ['← →', 'siblings'], ['Home', 'root'],
    ['Alt ← →', 'back, forward'], ['/', 'search'], ['T', 'light or dark'], ['Esc', 'whole tree']];
  if (app.flat?.kind === 'rectangular') keys.splice(2, 0, ['Shift and wheel', 'zoom rows']);
  if (toScale) keys.push(['L', 'next layout']);
  byId('pane-about').replaceChildren(make('h2', {}, 'About this page'), make('p', { class: 'lead' }, ...lines), factList(rows), make('h3', {}, 'Moving about'),
    factList(keys), make('p', { class: 'note' }, `Made by treeball ${summary.version}.`));
  const pill = byId('picture-kind');
  pill.textContent = app.flat ? 'To scale' : picture === null ? 'Real vectors' : '2-d companion';
  pill.title = lines[0];
}

/** @param {App} app */
function startTheme(app) {
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const button = byId('theme');
  /** @param {keyof typeof THEMES} name */
  function apply(name) {
    document.documentElement.dataset.theme = name;
    app.theme = THEMES[name];
    button.setAttribute('aria-label', name === 'dark' ? 'Light theme' : 'Dark theme');
    button.title = name === 'dark' ? 'Light theme (T)' : 'Dark theme (T)';
    refreshPalette(app);
    showLegend(app);
    if (app.renderer) {
      showDetails(app);
      app.redraw();
    }
  }
  app.toggleTheme = () => {
    const name = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    keepSetting('theme', name);
    apply(name);
  };
  button.addEventListener('click', app.toggleTheme);
  prefersDark.addEventListener('change', () => { if (!readSetting('theme')) apply(prefersDark.matches ? 'dark' : 'light'); });
  const kept = readSetting('theme');
  apply(kept === 'dark' || kept === 'light' ? kept : prefersDark.matches ? 'dark' : 'light');
}
