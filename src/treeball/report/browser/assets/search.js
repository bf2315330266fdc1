// The search box: labels and ids that begin with what was typed, then words that do, then the rest; large subtrees first.

const MOST_MATCHES = 12;
const MOST_HITS = 20000;

/** @param {Tree} tree @param {string} query */
function findNames(tree, query) {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return [];
  /** @type {Map<number, number>} */
  const found = new Map();
  searchNames(tree.names, wanted, found);
  if (tree.ids !== tree.names) searchNames(tree.ids, wanted, found);
  return [...found.keys()]
    .sort((a, b) => (found.get(a) ?? 0) - (found.get(b) ?? 0) || tree.size[b] - tree.size[a] || a - b)
    .slice(0, MOST_MATCHES);
}

// Adds the nodes whose name holds what is wanted, and how well it fits.
/** @param {Names} names @param {string} wanted @param {Map<number, number>} found */
function searchNames(names, wanted, found) {
  const { text, begin } = names.inLowerCase();
  let hits = 0;
  for (let at = text.indexOf(wanted); at >= 0 && hits < MOST_HITS; at = text.indexOf(wanted, at + 1)) {
    hits++;
    const node = lineOf(begin, at);
    if (at + wanted.length > begin[node + 1] - 1) continue; // spans two names
    const place = matchRank(text, at, wanted.length, begin[node], begin[node + 1] - 1);
    if (place < (found.get(node) ?? Infinity)) found.set(node, place);
  }
}

/** @param {Uint32Array} begin @param {number} at */
function lineOf(begin, at) {
  let low = 0;
  let high = begin.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (begin[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

// 0 the whole name, or all of it before a dot; 1 its beginning; 2 the beginning of a word; 3 anywhere.
/** @param {string} text @param {number} at @param {number} length @param {number} first @param {number} last */
function matchRank(text, at, length, first, last) {
  if (at === first) return at + length === last || text[at + length] === '.' ? 0 : 1;
  return /[\s_\-./>|,(]/u.test(text[at - 1]) ? 2 : 3;
}

/** @param {App} app */
function startSearch(app) {
  const input = byId('search');
  const list = byId('matches');
  // The last choice of a page that is served: the whole model, of which it shows a part.
  const whole = summary.part?.served ? summary.part : null;
  /** @type {number[]} */
  let matches = [];
  let choices = 0;
  let active = -1;

  function close() {
    list.hidden = true;
    active = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  }

  function show() {
    matches = findNames(app.tree, input.value);
    const wanted = input.value.trim();
    choices = matches.length + (whole && wanted ? 1 : 0);
    list.replaceChildren(...matches.map((node, i) => option(node, i)));
    if (whole && wanted) {
      list.append(choice(matches.length, `Look for “${visible(wanted)}”`, `in all ${count(whole.nodes, 'node')}`));
    } else if (!matches.length && wanted) {
      list.replaceChildren(make('li', { class: 'none', role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' },
        'No such name'));
    }
    list.hidden = !wanted;
    input.setAttribute('aria-expanded', String(!list.hidden));
    activate(choices ? 0 : -1);
  }

  /** @param {number} node @param {number} i */
  function option(node, i) {
    const up = app.tree.parent[node];
    return choice(i, fullName(app.tree, node), up >= 0 ? `in ${shortName(app.tree, up)}` : '');
  }

  /** @param {number} i @param {string} name @param {string} where */
  function choice(i, name, where) {
    return make('li', { role: 'option', id: `match-${i}`, 'aria-selected': 'false',
      onpointerdown: (event) => { event.preventDefault(); choose(i); } },
    make('span', { class: 'name' }, name), make('span', { class: 'value' }, where));
  }

  /** @param {number} i */
  function activate(i) {
    list.children[active]?.setAttribute('aria-selected', 'false');
    active = i;
    const chosen = choices ? list.children[i] : null;
    if (!chosen) return;
    chosen.setAttribute('aria-selected', 'true');
    chosen.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', chosen.id);
  }

  /** @param {number} i */
  function choose(i) {
    const node = matches[i];
    if (whole && i === matches.length && i < choices) location.assign(addressOfPart(input.value.trim()));
    if (node === undefined) return;
    input.value = '';
    close();
    app.goTo(node);
    byId('stage').focus({ preventScroll: true });
  }

  input.addEventListener('input', show);
  input.addEventListener('focus', () => { if (input.value.trim()) show(); });
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' && choices) activate((active + 1) % choices);
    else if (event.key === 'ArrowUp' && choices) activate((active + choices - 1) % choices);
    else if (event.key === 'Enter') choose(active);
    else if (event.key === 'Escape') {
      input.value = '';
      close();
      byId('stage').focus({ preventScroll: true });
    } else return;
    event.preventDefault();
  });
}
