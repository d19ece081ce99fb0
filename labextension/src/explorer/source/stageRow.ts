/** How a line of the text of a stage looks: its number and its time, its words, and what became of what it is about. */
import type { Document, Graph } from '../../document/graph.ts';
import { fatesOf, ghostWord } from '../../view/ghosts.ts';
import { measuredOf, timeText, withBodies, type Measured } from '../../view/measures.ts';
import type { Folding } from '../../text/folding.ts';
import type { Listing } from '../../text/listing.ts';
import type { Named, Piece } from '../../text/pieces.ts';
import { element } from '../elements.ts';
import type { Names } from './names.ts';
import type { LineMark } from './touched.ts';

/** px of a line; the style sheet says so too. */
export const LINE_HEIGHT = 18;

export interface Rowed {
  readonly document: Document;
  readonly graph: Graph;
  readonly listing: Listing;
  readonly folding: Folding;
  readonly names: Names;
  /** By node, what a pass did, and what differs from the picture beside. */
  readonly touched: ReadonlyMap<number, LineMark>;
  readonly differing: ReadonlyMap<number, LineMark>;
  /** The role of the palette that tells of a node in the picture; empty for one that is not told of. */
  tint(graph: Graph, node: number): string;
  /** Whether a name in a line leads anywhere. */
  leads(named: Named, line: number): boolean;
}

export class StageRows {
  private readonly measured: Measured | null;
  private readonly slowest: number;

  constructor(private readonly of: Rowed) {
    this.measured = measuredOf(of.document, of.graph);
    this.slowest = this.measured?.own.seconds.reduce((most, one) => Math.max(most, one), 0) ?? 0;
  }

  /** True where lines tell how long they took. */
  get timed(): boolean {
    return this.slowest > 0;
  }

  /** The element of a line, at its place. */
  make(line: number): HTMLElement {
    const { listing, folding, touched, differing } = this.of;
    const row = element('div', 'jv-text-line');
    row.dataset.line = String(line);
    row.style.top = `${folding.row(line) * LINE_HEIGHT}px`;
    row.setAttribute('role', 'option');
    row.setAttribute('aria-setsize', String(listing.count));
    row.setAttribute('aria-posinset', String(line + 1));
    const nodes = listing.nodes(line);
    const code = element('code', '', ' '.repeat(listing.indent(line)));
    code.append(...listing.pieces(line).map(piece => this.piece(piece, nodes, line)));
    row.append(this.gutter(line, nodes), code);
    if (folding.isFolded(line)) {
      row.append(element('span', 'jv-text-fold jv-text-inside', `… ${folding.inside(line)} lines`));
    }
    const gone = this.goneWord(nodes);
    row.classList.toggle('jv-gone', gone !== '');
    // Beside another picture, what differs says more than what became of it.
    const mark = marked(differing, nodes) ?? (gone ? undefined : marked(touched, nodes));
    if (gone && !mark) {
      row.append(element('span', 'jv-text-word', gone));
    } else if (mark) {
      row.querySelector('.jv-text-gutter')?.append(element('span', `jv-text-stripe jv-text-${mark.kind}`));
      row.append(element('span', `jv-text-word jv-text-${mark.kind}`, mark.word));
    }
    return row;
  }

  private piece({ text, role, named }: Piece, nodes: readonly number[], line: number): Node | string {
    const { graph, names, tint, leads } = this.of;
    if (role === 'plain') {
      return text;
    }
    const piece = element('span', `jv-text-${role}`, text);
    const colour = role === 'op' && nodes.length ? tint(graph, nodes[0]) : '';
    if (colour) {
      piece.style.setProperty('--jv-tint', `var(--jv-${colour})`);
    }
    if (named) {
      names.add(piece, named, leads(named, line));
    }
    return piece;
  }

  /** The number of a line, how long it took, and whether what stands in it can be folded. */
  private gutter(line: number, nodes: readonly number[]): HTMLElement {
    const { listing, folding } = this.of;
    const gutter = element('span', 'jv-text-gutter');
    gutter.append(element('span', 'jv-text-number', String(line + 1)));
    if (this.timed) {
      const seconds = nodes.length && listing.lines(nodes[0])[0] === line ? this.secondsOf(nodes) : 0;
      const heat = element('span', 'jv-heat jv-heat-time');
      heat.style.opacity = seconds > 0 ? String(0.12 + 0.88 * Math.min(1, seconds / this.slowest)) : '0';
      gutter.append(element('span', 'jv-text-time', seconds > 0 ? timeText(seconds) : ''), heat);
    }
    const fold = element('span', 'jv-text-triangle');
    if (folding.inside(line)) {
      const folded = folding.isFolded(line);
      fold.classList.add('jv-text-fold');
      fold.title = `${folded ? 'Show' : 'Fold'} the ${folding.inside(line)} lines inside (Space)`;
      fold.classList.toggle('jv-folded', folded);
    }
    gutter.append(fold);
    return gutter;
  }

  private secondsOf(nodes: readonly number[]): number {
    const { measured } = this;
    const { graph } = this.of;
    return measured ? nodes.reduce((sum, node) => sum + withBodies(measured, graph, 'seconds', node), 0) : 0;
  }

  /** Why the compiler did not keep what a line is about; empty where it kept any of it. */
  private goneWord(nodes: readonly number[]): string {
    const fates = fatesOf(this.of.document, this.of.graph);
    const words = fates ? nodes.map(node => ghostWord(fates, node)) : [];
    return words.length && words.every(word => word) ? words[0] : '';
  }
}

/** What is told of the first of the nodes of a line of which anything is. */
function marked(marks: ReadonlyMap<number, LineMark>, nodes: readonly number[]): LineMark | undefined {
  return marks.get(nodes.find(node => marks.has(node)) ?? -1);
}
