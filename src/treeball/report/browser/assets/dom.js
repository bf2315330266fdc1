// Small helpers for the page around the picture. Text always goes in as text, never as markup.

function byId(id) {
  return document.getElementById(id);
}

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'class') element.className = value;
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function count(number, noun) {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

function decimals(value, digits = 3) {
  return value === null || value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits);
}

// A button with the name of a node that flies to it.
function nodeButton(app, node, extra) {
  const name = app.tree.names.of(node);
  const button = make('button', { type: 'button', class: 'node', title: name, onclick: () => app.goTo(node) },
    make('span', { class: 'swatch', 'aria-hidden': 'true' }), make('span', { class: 'name' }, shortName(app.tree, node)));
  button.firstChild.style.background = `rgb(${nodeColor(app, node).join(',')})`;
  if (extra) button.append(make('span', { class: 'value' }, extra));
  return button;
}

function announce(text) {
  byId('announcer').textContent = text;
}

function readSetting(key) {
  try {
    return localStorage.getItem(`treeball-${key}`);
  } catch {
    return null; // some browsers give files no storage
  }
}

function keepSetting(key, value) {
  try {
    localStorage.setItem(`treeball-${key}`, value);
  } catch {
    // nothing is lost but the memory of a choice
  }
}
