/**
 * The drawing for hosts without a browser: one script that defines `jaxviz` with functions from text to text.
 * Made for QuickJS inside Python: no DOM, no timers, no workers.
 */
import { decode, decodePlain } from '../document/decode.ts';
import { NodeKind, RowKind, type Document, type Graph } from '../document/graph.ts';
import { makeScene, MARGIN } from '../draw/scene.ts';
import { toSvg } from '../draw/svg.ts';
import { measure } from '../draw/text.ts';
import type { Theme } from '../draw/theme.ts';
import type { Layout, LayoutInput } from '../layout/input.ts';
import { layout } from '../layout/layout.ts';
import { LayoutMemory } from '../layout/memory.ts';
import { listingOf } from '../text/stageText.ts';
import { described } from '../view/described.ts';
import { firstView } from '../view/first.ts';
import { Apart } from '../view/folds.ts';
import { openEverything } from '../view/opening.ts';
import { aspectOf, brevityIn, fitZoom, type Space } from '../view/space.ts';
import { rowsOf } from '../view/outline.ts';
import { toLayout } from '../view/place.ts';
import { show, type ViewState } from '../view/view.ts';
import { Shape } from '../view/visible.ts';

const rowKinds = Object.keys(RowKind);
const nodeKinds = Object.keys(NodeKind);

interface Options {
  readonly graph?: number;
  readonly width: number;
  readonly height: number;
  readonly theme?: Theme | 'auto';
  /** Rows of the outline to open, or all; the first view where it is absent. */
  readonly open?: readonly number[] | 'all';
  /** A picture of more boxes is not drawn; the text is empty then. */
  readonly mostBoxes?: number;
  /** What is written below the picture. */
  readonly note?: string;
  /** True where it is drawn no wider than that space. */
  readonly fit?: boolean;
}

/** The picture of a document as SVG. */
function svg(documentText: string, optionsText: string): string {
  const { document, graph, options, state, place } = prepare(documentText, optionsText);
  const visible = show(document, graph, state);
  if (visible.count > (options.mostBoxes ?? Infinity)) {
    return '';
  }
  const scene = makeScene(visible, place(toLayout(visible, measure, { aspect: aspectOf(spaceOf(options)) })));
  const program = document.programs[0];
  return toSvg(scene, {
    theme: options.theme ?? 'light',
    title: program ? program.call : 'program',
    description: described(program?.stages[0]?.kind ?? 'graph', visible),
    note: options.note,
    ...(options.fit ? { most: options.width } : {})
  });
}

/** What would be seen at first, as JSON: boxes and zoom. */
function view(documentText: string, optionsText: string): string {
  const { document, graph, options, state, place } = prepare(documentText, optionsText);
  const visible = show(document, graph, state);
  const { operations, outline } = rowsOf(document, graph);
  const boxes = visible.label.map((name, box) => ({
    name,
    kind: visible.item[box] >= 0 ? rowKinds[outline.kind[visible.item[box]]] : nodeKinds[graph.kind[visible.node[box]]],
    equations:
      visible.item[box] >= 0
        ? operations[visible.item[box]]
        : graph.kind[visible.node[box]] === NodeKind.operation
          ? 1
          : 0,
    open: visible.shape[box] === Shape.frame,
    chips: visible.chips.get(box)?.length ?? 0
  }));
  return JSON.stringify({
    boxes,
    zoom: fitZoom(place(toLayout(visible, measure, { aspect: aspectOf(spaceOf(options)) })), spaceOf(options))
  });
}

/** A stage as text, in the syntax of its form. */
function text(documentText: string, optionsText: string): string {
  const document = decodePlain(JSON.parse(documentText));
  const { graph } = JSON.parse(optionsText) as { readonly graph: number };
  const listing = listingOf(document, document.graphs[graph]);
  return Array.from({ length: listing.count }, (_, line) => listing.text(line)).join('\n');
}

interface Prepared {
  readonly document: Document;
  readonly graph: Graph;
  readonly options: Options;
  readonly state: ViewState;
  readonly place: Placing;
}

type Placing = (input: LayoutInput) => Layout;

function prepare(documentText: string, optionsText: string): Prepared {
  const document = decodePlain(JSON.parse(documentText));
  const options = JSON.parse(optionsText) as Options;
  const graph = document.graphs[options.graph ?? 0];
  if (!graph) {
    throw new Error(`the document has no graph ${options.graph ?? 0}`);
  }
  // What was chosen has been laid out.
  const memory = new LayoutMemory();
  const place: Placing = input => layout(input, memory);
  return { document, graph, options, state: stateOf(document, graph, options, place), place };
}

function stateOf(document: Document, graph: Graph, options: Options, place: Placing): ViewState {
  if (options.open === undefined) {
    return firstView(document, graph, spaceOf(options), measure, place);
  }
  const open = options.open === 'all' ? openEverything(rowsOf(document, graph), true) : new Set(options.open);
  return { open, brevity: brevityIn(spaceOf(options)), apart: Apart.beside };
}

function spaceOf({ width, height }: Options): Space {
  return { width: width - 2 * MARGIN, height: height - 2 * MARGIN };
}

Object.assign(globalThis, { jaxviz: { svg, view, text, decode } });
