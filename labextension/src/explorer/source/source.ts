/** The pane beside the picture: the person's lines, or the text of the stage on the screen. */
import type { Document, Graph } from '../../document/graph.ts';
import { formName, listingOf } from '../../text/stageText.ts';
import { button, element } from '../elements.ts';
import { copyText } from './copyText.ts';
import { hasSource } from './lines.ts';
import { PythonLines } from './python.ts';
import { StageLines } from './stageLines.ts';
import type { LineMark } from './touched.ts';

/** A line of the person's source: where its file lies, how that is shown, its number and its text. */
export interface SourceSpot {
  readonly path: string;
  readonly label: string;
  readonly line: number;
  readonly text: string;
}

/** What is read in the pane. */
export type Written = 'python' | 'stage';

export interface SourceActions {
  /** Shows where a line went; an empty list for a line that made nothing. */
  pick(nodes: readonly number[]): void;
  /** Selects what a line of the stage is about. */
  choose(nodes: readonly number[]): void;
  /** The pointer is on a line of these nodes, or on none any more. */
  hint(nodes: readonly number[]): void;
  close(): void;
  /** The person chose what is to be read. */
  chosen(): void;
  /** The role of the palette that tells of a node in the picture; empty for one that is not told of. */
  tint(graph: Graph, node: number): string;
  /** By node, what differs in the graph that is read from the picture beside it; the same as long as nothing changes. */
  differing(): ReadonlyMap<number, LineMark>;
  /** Shows a line where it was written; absent where the host cannot. */
  readonly goToLine?: ((spot: SourceSpot) => void) | undefined;
}

export class SourcePane {
  readonly root = element('aside', 'jv-source-pane');
  private readonly python: PythonLines;
  private readonly stage: StageLines;
  private readonly tabs: Readonly<Record<Written, HTMLButtonElement>>;
  private readonly copy: HTMLButtonElement;
  /** What can be done with the text of a stage. */
  private readonly acts = element('span', '');
  private graph: Graph | null = null;
  /** What the person chose to read. */
  chosen: Written | null = null;

  constructor(
    private readonly document: Document,
    private readonly actions: SourceActions
  ) {
    this.python = new PythonLines(document, actions);
    this.stage = new StageLines(document, actions);
    this.tabs = {
      python: button('jv-source-tab', 'Python', 'The lines that you wrote (1)', () => this.choose('python')),
      stage: button('jv-source-tab', '', '', () => this.choose('stage'))
    };
    this.copy = button('jv-link', 'copy', 'Copy all of this text', () => this.copyAll());
    const tabs = element('div', 'jv-source-tabs');
    tabs.setAttribute('role', 'group');
    tabs.setAttribute('aria-label', 'what is read here');
    tabs.append(this.tabs.python, this.tabs.stage);
    const head = element('div', 'jv-source-head');
    const close = button('jv-close', '×', 'Close what is read here', () => actions.close());
    this.acts.append(this.stage.fold, this.copy);
    head.append(tabs, element('span', 'jv-space'), this.acts, close);
    this.root.append(head, this.python.root, this.stage.root);
    this.root.hidden = true;
  }

  get shown(): boolean {
    return !this.root.hidden;
  }

  get written(): Written {
    return this.chosen ?? this.source;
  }

  /** What is read unless the person chooses something else: without source, the text of the stage. */
  get source(): Written {
    return hasSource(this.document) ? 'python' : 'stage';
  }

  /** Fills the pane with the lines as they are in `graph`. */
  fill(graph: Graph): void {
    this.graph = graph;
    const { written, tabs } = this;
    const form = formName(this.document, graph);
    tabs.stage.textContent = form;
    tabs.stage.title = `The text of this stage: ${form} (t)`;
    for (const one of ['python', 'stage'] as const) {
      tabs[one].classList.toggle('jv-on', one === written);
      tabs[one].setAttribute('aria-pressed', String(one === written));
      this[one].root.hidden = one !== written;
    }
    this.acts.hidden = written === 'python';
    this.root.setAttribute('aria-label', written === 'python' ? 'source' : `text of ${form}`);
    this[written].fill(graph);
  }

  /** Marks the lines of nodes; the first of them is brought into view. */
  mark(graph: Graph, nodes: readonly number[]): void {
    this[this.written].mark(graph, nodes);
  }

  /** Lights the lines of what the pointer is on in the picture. */
  hint(graph: Graph, nodes: readonly number[]): void {
    this[this.written].hint(graph, nodes);
  }

  /** Marks what was searched for. */
  find(nodes: readonly number[]): void {
    this.stage.find(this.written === 'stage' ? nodes : []);
  }

  /** Colours are others. */
  recolour(): void {
    this.stage.recolour();
  }

  private choose(written: Written): void {
    this.chosen = written;
    this.actions.chosen();
  }

  private copyAll(): void {
    if (this.graph) {
      copyText(this.copy, listingOf(this.document, this.graph));
    }
  }
}
