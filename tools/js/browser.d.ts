// What the scripts of the hyperbolic browser hand to each other. Nodes are numbers in level order, see tree.js.

/** [ar, ai, br, bi] of z -> (a z + b) / (conj(b) z + conj(a)), see geometry.js. */
type Isometry = [number, number, number, number];
type Point = [number, number];
type Color = number[]; // red, green, blue
type Box = [left: number, top: number, right: number, bottom: number];
type Floats = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;
type Ints = Int32Array<ArrayBuffer>;
type Bytes = Uint8Array<ArrayBuffer>;

/** What page.py wrote about the model as a whole. */
interface Summary {
  title: string;
  nodes: number;
  edges: number;
  dim: number;
  geometry: string;
  method: string | null;
  objective: 'parents' | 'ancestors';
  map: number | null;
  mean_rank: number | null;
  hits_at_1: number | null;
  max_radius: number;
  illness: Record<string, number>;
  sampled?: { nodes: number; of: number };
  version: string;
  virtual_root: boolean;
  pairs: number;
  /** Neighbours listed of each node. */
  nearest: number;
  /** Ill pairs that the page holds. */
  listed: number;
  /** How faithful the companion is; null where the vectors themselves are shown. */
  picture: { map: number | null; sample: number; power: number } | null;
  column?: { name: string; categories: string[] | null; matched: number };
  /** Of which larger model the page shows a part, see part.py. */
  part?: { model: string; nodes: number; above: string[]; served: boolean };
  /** What the page opens with. */
  layout: LayoutName;
  /** The layouts to scale; null where there are too many nodes for them. */
  to_scale: {
    /** Depth of the deepest node. */
    height: number;
    /** Leaves. */
    rows: number;
    has_lengths: boolean;
    is_dated: boolean;
    /** Edges to further parents, which are not drawn. */
    leaves_out: number;
  } | null;
}

/** By node: how many children it has in the whole model, and nodes below it. */
interface PartOfNodes {
  children: Ints;
  below: Ints;
}

type FlatKind = 'rectangular' | 'radial';
type LayoutName = 'disk' | FlatKind;

/** By node: lengths of edges as shares of the height, and twice the rows. */
interface FlatParts {
  length: Float32Array;
  row: Ints;
}

/** A place (x, y) of a layout is seen at the pixel (view.x + sx x, view.y + sy y). */
interface FlatView {
  x: number;
  y: number;
  sx: number;
  sy: number;
}

/** A layout to scale, see flat.js. */
interface Flat {
  kind: FlatKind;
  x: Float64Array;
  y: Float64Array;
  /** Four numbers a node: left, top, right, bottom of its subtree. */
  boxes: Float64Array;
  view: FlatView;
  /** Scales that show the whole. */
  least: { sx: number; sy: number };
  /** Nobody moved it: it follows the size of the window. */
  isFitted: boolean;
  flight: { from: FlatView; to: FlatView; begin: number } | null;
}

/** The scale bar and the axis, in pixels. */
interface ScaleMarks {
  lines: Box[];
  texts: { text: string; x: number; y: number; align: 'left' | 'center' }[];
  /** What is kept free for them. */
  band: Box | null;
  bar: { length: number; pixels: number } | null;
  /** Values at the ticks of the axis. */
  ticks: number[];
}

/** What a tree is made of, as unpacked. */
interface TreeParts {
  childCount: Ints;
  nameBytes: Bytes;
  /** null where names are all there is. */
  idBytes: Bytes | null;
  angle: Floats;
  length: Floats;
  /** Edges to further parents, where a node has several. */
  otherChild: Ints;
  otherParent: Ints;
}

interface Tree {
  n: number;
  /** The children of i are first[i] .. first[i + 1] - 1. */
  first: Ints;
  /** -1 for the root; smaller than the node. */
  parent: Ints;
  depth: Ints;
  /** Nodes of the subtree, itself included. */
  size: Ints;
  otherChild: Ints;
  otherParent: Ints;
  /** Four numbers a node, see makeSteps. */
  steps: Float64Array;
  angle: Floats;
  length: Floats;
  spread: number;
  reach: Float32Array;
  keep: Float32Array;
  /** What people call the nodes. */
  names: Names;
  /** What the nodes are known by; the names themselves where there are no labels. */
  ids: Names;
}

interface Names {
  of(node: number): string;
  find(name: string): number;
  inLowerCase(): { text: string; begin: Uint32Array };
}

/** Ill pairs, the worst first. */
interface Ill {
  node: Ints;
  positive: Ints;
  offender: Ints;
  kind: Bytes;
  distance: Float32Array;
  offenderDistance: Float32Array;
  firstPair: Ints;
  nextPair: Ints;
}

/** Measurements of the vectors, by node. */
interface Facts {
  radius: Float32Array;
  parentDistance: Float32Array;
  margin: Float32Array;
  /** Differences to the node itself, `summary.nearest` a node; null where the page lists no neighbours. */
  near: Ints | null;
  nearDistance: Float32Array;
  /** null without a table. */
  column: Float32Array | null;
  ill: Ill;
}

interface Leg {
  node: number;
  distance: number;
  direction: number;
  turn: number;
}

interface Flight {
  legs: Leg[];
  length: number;
  begin: number;
  duration: number;
  target: number;
}

interface Camera {
  /** A node near the middle, and where it is. */
  anchor: number;
  frame: Isometry;
  /** Root of what is shown. */
  top: number;
  zoom: number;
  radius: number;
  baseRadius: number;
  x: number;
  y: number;
  flight: Flight | null;
  /** Whether a layout to scale is shown: places are pixels, edges straight. */
  isFlat: boolean;
}

/** What the walk found: `count` places, in arrays that grow. */
interface Scene {
  count: number;
  capacity: number;
  /** Nodes worth drawing, whether they were kept or not. */
  seen: number;
  node: Int32Array;
  /** Place of the parent in the scene, -1 when it is not there. */
  link: Int32Array;
  x: Float32Array;
  y: Float32Array;
  /** Pixels that a short hyperbolic unit is long there. */
  scale: Float32Array;
  /** Four numbers a place: its isometry. */
  frame: Float64Array;
}

interface Arc {
  from: Point;
  to: Point;
  kind: number;
  isDashed: boolean;
  isStrong: boolean;
}

interface Picture {
  scene: Scene;
  /** Share of the leaves that is shown. */
  keep: number;
  coarseness: number;
  isFine: boolean;
  /** Place of each node in the scene, or -1. */
  where: Int32Array;
  arcs: Arc[];
  /** Places of both ends of edges to further parents. */
  extra: [number, number][];
}

/** Edges (six numbers each: ends, widths) or dots (three: place, radius), with four bytes of colour. */
interface DrawList {
  capacity: number;
  count: number;
  data: Float32Array;
  color: Bytes;
}

interface DrawLists {
  edges: DrawList;
  solid: DrawList;
  dashed: DrawList;
  dots: DrawList;
}

interface Renderer {
  kind: 'webgl' | 'canvas';
  resize(width: number, height: number, ratio: number): void;
  draw(app: App): void;
}

interface GlProgram {
  program: WebGLProgram;
  at: Record<string, WebGLUniformLocation | null>;
}

interface Theme {
  ground: string;
  disk: string;
  rim: string;
  ink: string;
  faint: string;
  halo: string;
  other: string;
  groups: string[];
  kinds: string[];
  ramp: string[];
  edge: number;
}

/** Either `entries` or a `range` for the legend, and an index into the palette for each node. */
interface Colouring {
  title: string;
  index: Uint8Array;
  palette(theme: Theme): Color[];
  entries?: string[];
  nodes?: number[];
  range?: [number, number];
  digits?: number;
}

interface Label {
  node: number;
  text: string;
  size: number;
  isBold: boolean;
  x: number;
  y: number;
  alpha: number;
}

/** Everything that is shown. main.js makes it; the functions below are added by the scripts that start each part. */
interface App {
  tree: Tree;
  facts: Facts;
  /** null where the page shows the whole model. */
  part: PartOfNodes | null;
  camera: Camera;
  picture: Picture;
  layout: LayoutName;
  /** The layout to scale that is shown; null for the disk. */
  flat: Flat | null;
  marks: ScaleMarks;
  focus: number;
  /** Root of the opened subtree. */
  top: number;
  hovered: number;
  highlight: { pair: number; nodes: number[] } | null;
  frames: number;
  showsIllness: boolean;
  shownKinds: boolean[];
  isDragging: boolean;
  labels: Label[];
  /** Side of its dot on which a node's name stands. */
  labelSides: Map<number, number>;
  colourings: Record<string, Colouring>;
  colouring: string;
  palette: Color[];
  theme: Theme;
  overlay: { canvas: HTMLCanvasElement; context: CanvasRenderingContext2D; width: number; height: number };
  /** Missing while the page starts. */
  renderer: Renderer;
  width: number;
  height: number;
  pixelRatio: number;
  area: { left: number; top: number; right: number; bottom: number };

  colourBy(name: string): void;
  resize(): void;
  redraw(): void;
  moved(): void;
  chooseTab(name: string): void;
  showPanel(isShown: boolean): void;
  toggleTheme(): void;
  markChosenPair(): void;
  goTo(node: number, options?: { keepsHighlight?: boolean }): void;
  openSubtree(node: number): void;
  goHome(): void;
  focusMiddle(): void;
  showPair(pair: number): void;
  showIllness(isShown: boolean): void;
  showLayout(name: LayoutName): void;
  changeLayout(name: LayoutName): void;
  nextLayout(): void;
  /** Length of the edge to a node in the hierarchy. */
  lengthOf(node: number): number;
  stayAt(): void;
  zoomIn(): void;
  zoomOut(): void;
}

/** Elements of page.html that are more than an HTMLElement. */
interface PageElements {
  search: HTMLInputElement;
  colour: HTMLSelectElement;
  layout: HTMLSelectElement;
  picture: HTMLCanvasElement;
  labels: HTMLCanvasElement;
  back: HTMLButtonElement;
  forward: HTMLButtonElement;
}

declare var treeball: App;
