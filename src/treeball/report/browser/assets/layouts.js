// Which layout is shown: the hyperbolic disk, or the hierarchy to scale, where the page has what that takes.

/** @type {Record<LayoutName, string>} */
const LAYOUT_TITLES = { disk: 'Hyperbolic disk', rectangular: 'Rectangular, to scale', radial: 'Radial, to scale' };

/** @param {string | undefined | null} name @returns {name is LayoutName} */
function isLayout(name) {
  return name === 'disk' || (summary.to_scale !== null && (name === 'rectangular' || name === 'radial'));
}

/** @param {App} app @param {FlatParts | null} parts */
function startLayouts(app, parts) {
  /** @type {Partial<Record<FlatKind, Flat>>} */
  const made = {};
  const drawsIll = { disk: app.showsIllness, flat: false }; // red edges hide the colours of a drawing to scale
  const select = byId('layout');
  const names = /** @type {LayoutName[]} */ (Object.keys(LAYOUT_TITLES)).filter((name) => isLayout(name));
  select.append(...names.map((name) => make('option', { value: name }, LAYOUT_TITLES[name])));
  byId('layouts').hidden = parts === null;

  /** @param {LayoutName} name */
  const flatOf = (name) => {
    if (name === 'disk' || parts === null) return null;
    return (made[name] ??= makeFlat(app.tree, parts, name));
  };

  app.lengthOf = (node) => (parts === null ? NaN : parts.length[node] * (summary.to_scale?.height ?? 1));
  app.showLayout = (name) => {
    drawsIll[app.flat ? 'flat' : 'disk'] = app.showsIllness;
    app.flat = flatOf(name);
    app.layout = name;
    app.camera.isFlat = app.flat !== null;
    app.camera.flight = null;
    app.labelSides.clear();
    select.value = name;
    document.body.classList.toggle('to-scale', app.camera.isFlat);
    if (app.flat) app.flat.isFitted = true;
    app.showIllness(drawsIll[app.flat ? 'flat' : 'disk']);
    describe(app);
    app.resize();
  };
  // By hand: what was in focus is so still.
  app.changeLayout = (name) => {
    if (name === app.layout) return;
    app.showLayout(name);
    app.stayAt();
    announce(LAYOUT_TITLES[name]);
  };
  select.addEventListener('change', () => { if (isLayout(select.value)) app.changeLayout(select.value); });
  app.nextLayout = () => app.changeLayout(names[(names.indexOf(app.layout) + 1) % names.length]);
}

// What a drawing to scale is, in words.
/** @param {NonNullable<Summary['to_scale']>} about @param {FlatKind} kind */
function layoutText(about, kind) {
  const edges = about.has_lengths ? 'every edge is as long as its weight' : 'every edge has the length 1, as this hierarchy has no lengths';
  const shape = kind === 'radial' ? 'Straight lines lead away from the root, and directions mean nothing but order.'
    : about.is_dated ? 'The axis counts back from the tips, which are all about as far from the root.'
      : 'The axis counts from the root.';
  const rest = about.leaves_out ? ` A node with several parents hangs below its primary one; ${count(about.leaves_out, 'edge')} to others `
    + `${about.leaves_out === 1 ? 'is' : 'are'} not drawn.` : '';
  return `The picture is the hierarchy, not the vectors: ${edges}, to scale. ${shape}${rest} Distances, neighbours, margins and `
    + 'illness are those of the vectors.';
}
