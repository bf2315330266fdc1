// What the server of a live training answers, see live.py.

interface TreeRecord {
  parent: number[];
  name: string[];
  size: number[];
  group: number[];
  groups: string[];
}

type Phase = 'waiting' | 'training' | 'finished' | 'stopped' | 'lost';

/** Epoch, loss, MAP and the shares of the three kinds of illness. */
type HistoryPoint = [epoch: number, loss: number | null, map: number | null, ...shares: [number, number, number]];

/** The course of a training that has begun. */
interface State {
  version: number;
  phase: Phase;
  epoch: number;
  epochs: number;
  method: string;
  dim: number;
  flat: boolean;
  nodes: number;
  loss: number | null;
  map: number | null;
  ill: number[];
  pairs: number;
  sampled: number | null;
  radius: number;
  rate: number | null;
  places: number[];
  /** Node, positive and kind of each ill pair between shown nodes. */
  ill_pairs: number[];
  history: HistoryPoint[];
}

/** Only a version when the page has it already, and no places before the first epoch. */
type Reply = { version: number; phase?: undefined } | { version: number; phase: 'waiting'; places?: undefined } | State;

/** What is drawn; the nodes glide from where they were to where they are. Two coordinates a node. */
interface Picture {
  tree: TreeRecord;
  state: State;
  from: Float64Array;
  to: Float64Array;
  now: Float64Array;
  /** When the glide began. */
  began: number;
}

interface Palette {
  disk: string;
  rim: string;
  line: string;
  faint: string;
  curve: string;
  kinds: string[];
  groups: string[];
}

/** Elements of live.html that are more than an HTMLElement. */
interface PageElements {
  disk: HTMLCanvasElement;
  illness: HTMLCanvasElement;
  losses: HTMLCanvasElement;
}
