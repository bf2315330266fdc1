// A page of a part of a larger model: what it does not show, and the way to the pages of other parts.

// How many nodes below this one are not on the page.
/** @param {App} app @param {number} node */
function hiddenBelow(app, node) {
  return app.part ? Math.max(0, app.part.below[node] - (app.tree.size[node] - 1)) : 0;
}

// "1.2M"
/** @param {number} many */
function rounded(many) {
  return many.toLocaleString('en', { notation: 'compact' });
}

// What stands behind the name of a node that has more below it than is shown.
/** @param {App} app @param {number} node */
function hiddenMark(app, node) {
  const hidden = hiddenBelow(app, node);
  return hidden ? ` +${rounded(hidden)}` : '';
}

// The page of what is below a node, or around it, and there the node in focus.
/** @param {string} name */
function addressOfPart(name) {
  const node = `node=${encodeURIComponent(name)}`;
  return `?${node}#${node}`;
}

// The way to what is below a node and not shown: a link where the page is served, else the command that shows it.
/** @param {App} app @param {number} node @returns {HTMLElement[]} */
function wayBelow(app, node) {
  const { part } = summary;
  const hidden = hiddenBelow(app, node);
  if (!part || !hidden) return [];
  const name = app.tree.ids.of(node);
  const said = make('p', { class: 'note' }, `${count(hidden, 'node')} below it ${hidden === 1 ? 'is' : 'are'} not on this page.`);
  if (node === 0) return [said];
  if (part.served) return [said, make('a', { class: 'wide', href: addressOfPart(name) }, 'Show what is below it')];
  return [said, make('p', { class: 'note' }, make('code', {}, `treeball view ${quoted(part.model)} --below ${quoted(name)}`))];
}

// As a shell takes it.
/** @param {string} text */
function quoted(text) {
  return /^[\w./:-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// The nodes above the uppermost on the page.
/** @returns {HTMLElement[]} */
function crumbsAbove() {
  const { part } = summary;
  if (!part) return [];
  return part.above.map((name) => make('li', { class: 'above' }, part.served
    ? make('a', { href: addressOfPart(name), title: visible(name) }, visible(name))
    : make('span', { title: visible(name) }, visible(name))));
}

// "12 of 3,456" where the page shows a part.
/** @param {number} shown @param {number | undefined} all */
function ofAll(shown, all) {
  return all === undefined || all === shown ? shown.toLocaleString('en')
    : `${all.toLocaleString('en')} (${shown.toLocaleString('en')} shown)`;
}
