// The keyboard: arrows walk the tree, the rest are short cuts.

/** @param {App} app */
function startKeyboard(app) {
  const { tree } = app;
  /** @type {Map<number, number>} */
  const lastChild = new Map(); // where we came up from, to go down the same way

  function child() {
    const { focus } = app;
    const [first, last] = [tree.first[focus], tree.first[focus + 1]];
    if (first === last) return -1;
    let largest = lastChild.get(focus);
    if (largest !== undefined) return largest;
    largest = first;
    for (let one = first; one < last; one++) if (tree.size[one] > tree.size[largest]) largest = one;
    return largest;
  }

  /** @param {number} step */
  function sibling(step) {
    const up = tree.parent[app.focus];
    if (up < 0) return -1;
    const many = tree.first[up + 1] - tree.first[up];
    return tree.first[up] + ((app.focus - tree.first[up] + step + many) % many);
  }

  function parent() {
    const up = tree.parent[app.focus];
    if (up >= 0) lastChild.set(up, app.focus);
    return up;
  }

  /** @type {Record<string, () => number>} */
  const onStage = {
    ArrowUp: parent,
    ArrowDown: child,
    ArrowLeft: () => sibling(1), // siblings run against the clock
    ArrowRight: () => sibling(-1),
    Home: () => 0,
  };
  /** @type {Record<string, () => void>} */
  const anywhere = {
    '/': () => byId('search').focus(),
    t: app.toggleTheme,
    l: app.nextLayout,
    '+': app.zoomIn,
    '=': app.zoomIn,
    '-': app.zoomOut,
    Escape: () => { if (app.top !== 0) app.openSubtree(0); },
  };

  byId('stage').addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter') app.openSubtree(app.top === app.focus ? 0 : app.focus);
    else if (onStage[event.key]) {
      const node = onStage[event.key]();
      if (node >= 0) app.goTo(node);
    } else return;
    event.preventDefault();
  });
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.closest('input[type=search], select, textarea');
    const act = anywhere[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
  });
}
