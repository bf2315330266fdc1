// Small helpers for the page around the picture. Text always goes in as text, never as markup.

/**
 * @template {string} Id
 * @param {Id} id one that page.html has
 * @returns {Id extends keyof PageElements ? PageElements[Id] : HTMLElement}
 */
function byId(id) {
  return /** @type {any} */ (document.getElementById(id));
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} properties
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value); // onclick, ...
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

// What draws on a canvas; a browser that is short of memory may have none.
/** @param {HTMLCanvasElement} canvas */
function penOf(canvas) {
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser gives no canvas to draw on');
  return context;
}

/** @param {number} number @param {string} noun */
function count(number, noun) {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/** @param {number | null | undefined} value @param {number} [digits] */
function decimals(value, digits = 3) {
  return value === null || value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits);
}

// A button with the name of a node that flies to it.
/** @param {App} app @param {number} node @param {string} [extra] */
function nodeButton(app, node, extra) {
  const name = fullName(app.tree, node);
  const swatch = make('span', { class: 'swatch', 'aria-hidden': 'true' });
  swatch.style.background = `rgb(${nodeColor(app, node).join(',')})`;
  const button = make('button', { type: 'button', class: 'node', title: name, onclick: () => app.goTo(node) },
    swatch, make('span', { class: 'name' }, shortName(app.tree, node)));
  if (extra) button.append(make('span', { class: 'value' }, extra));
  return button;
}

/** @param {string} text */
function announce(text) {
  byId('announcer').textContent = text;
}

/** @param {string} key */
function readSetting(key) {
  try {
    return localStorage.getItem(`treeball-${key}`);
  } catch {
    return null; // some browsers give files no storage
  }
}

/** @param {string} key @param {string} value */
function keepSetting(key, value) {
  try {
    localStorage.setItem(`treeball-${key}`, value);
  } catch {
    // nothing is lost but the memory of a choice
  }
}
