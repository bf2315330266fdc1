// Where we are and how we came there: focus, opened subtree, address, back and forward.

/** @param {App} app */
function addressOf(app) {
  const parts = [`node=${encodeURIComponent(app.tree.ids.of(app.focus))}`];
  if (app.top !== 0) parts.push(`in=${encodeURIComponent(app.tree.ids.of(app.top))}`);
  if (app.layout !== summary.layout) parts.push(`layout=${app.layout}`);
  return `#${parts.join('&')}`;
}

/** @param {App} app */
function readAddress(app) {
  const given = new Map(location.hash.slice(1).split('&').map((part) => {
    const at = part.indexOf('=');
    try {
      return [part.slice(0, at), decodeURIComponent(part.slice(at + 1))];
    } catch {
      return ['', '']; // a stray % sign
    }
  }));
  /** @param {string} key */
  const named = (key) => {
    const name = given.get(key);
    if (name === undefined) return 0;
    const node = app.tree.ids.find(name);
    return node < 0 ? app.tree.names.find(name) : node;
  };
  const node = named('node');
  const top = named('in');
  if (node < 0) announce(`There is no node named ${visible(given.get('node') ?? '')}`);
  const focus = Math.max(0, node);
  const layout = given.get('layout');
  return { focus, top: top > 0 && isWithin(app.tree, focus, top) ? top : 0, layout: isLayout(layout) ? layout : summary.layout };
}

/** @param {App} app */
function startNavigation(app) {
  const wantsStill = matchMedia('(prefers-reduced-motion: reduce)');
  let place = 0;
  let last = 0;

  function showButtons() {
    byId('back').disabled = place === 0;
    byId('forward').disabled = place >= last;
  }

  /** @param {boolean} isNew */
  function remember(isNew) {
    if (isNew) last = ++place;
    const entry = { place, focus: app.focus, top: app.top };
    if (isNew) history.pushState(entry, '', addressOf(app));
    else history.replaceState(entry, '', addressOf(app));
    showButtons();
  }

  /** @param {number} focus @param {number} top @param {boolean} [isInstant] */
  function show(focus, top, isInstant = false) {
    app.focus = focus;
    if (top !== app.top) {
      app.top = top;
      spreadChildren(app.tree, top);
      app.colourings.subtree = bySubtree(app.tree, top);
      showTop(isInstant || wantsStill.matches);
      app.colourBy(app.colouring);
    }
    app.camera.top = isWithin(app.tree, app.camera.anchor, top) ? top : 0;
    flyTo(app, focus, isInstant || wantsStill.matches);
    showFocus();
    app.moved();
  }

  // A layout to scale shows all of an opened subtree, and all of the tree again.
  /** @param {boolean} isInstant */
  function showTop(isInstant) {
    if (!app.flat) return;
    app.flat.isFitted = true;
    flyFlat(app, app.flat, wholeView(app, app.flat, app.top), isInstant);
  }

  function showFocus() {
    app.markChosenPair();
    showCrumbs(app);
    showDetails(app);
    const { tree, focus } = app;
    const children = childrenOf(tree, focus).length;
    announce(`${fullName(tree, focus)}, level ${tree.depth[focus]}, ${children} children`);
  }

  app.goTo = (node, options = {}) => {
    if (!options.keepsHighlight) app.highlight = null;
    const top = isWithin(app.tree, node, app.top) ? app.top : 0;
    const isNew = node !== app.focus || top !== app.top;
    show(node, top);
    if (isNew) remember(true);
  };
  app.openSubtree = (node) => {
    app.highlight = null;
    const focus = node === 0 ? app.focus : node;
    const isNew = node !== app.top || focus !== app.focus;
    show(focus, node);
    if (isNew) remember(true);
  };
  app.goHome = () => {
    app.highlight = null;
    const isNew = app.focus !== 0 || app.top !== 0;
    show(0, 0);
    showTop(wantsStill.matches);
    if (isNew) remember(true);
  };
  // After a drag, what is in the middle is in focus.
  app.focusMiddle = () => {
    if (app.flat || app.camera.anchor === app.focus) return;
    app.focus = app.camera.anchor;
    showFocus();
    remember(false);
  };
  // After a change of the layout: the same node, the same address but for the layout.
  app.stayAt = () => {
    show(app.focus, app.top, true);
    remember(false);
  };
  app.showPair = (pair) => {
    const { node, positive, offender } = app.facts.ill;
    app.highlight = { pair, nodes: [node[pair], positive[pair], offender[pair]] };
    app.goTo(node[pair], { keepsHighlight: true });
  };

  addEventListener('popstate', (event) => {
    const entry = event.state;
    const { focus, top, layout } = entry || readAddress(app); // the person typed another address
    if (entry) place = entry.place;
    else app.showLayout(layout);
    app.highlight = null;
    show(focus, top);
    remember(false); // back and forward keep the layout, and the address says so
  });
  byId('back').addEventListener('click', () => history.back());
  byId('forward').addEventListener('click', () => history.forward());
  byId('home').addEventListener('click', app.goHome);
  byId('scope-close').addEventListener('click', () => app.openSubtree(0));

  const { focus, top, layout } = readAddress(app);
  app.showLayout(layout);
  if (history.state?.place) place = last = history.state.place; // the page was loaded again
  show(focus, top, true);
  remember(false);
}
