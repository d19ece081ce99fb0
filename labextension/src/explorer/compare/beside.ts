/**
 * Two pictures side by side: what is selected in one is lit in the other, what is opened in one is opened in the other,
 * and what differs is marked in both.
 */
import { follow } from '../../document/follow.ts';
import type { Document } from '../../document/graph.ts';
import type { Mark } from '../../draw/marks.ts';
import { measure } from '../../draw/text.ts';
import { layout } from '../../layout/layout.ts';
import { abreast, areVersions } from '../../view/abreast.ts';
import { besideWhich, compare, type Compared } from '../../view/compared.ts';
import type { ViewState } from '../../view/folds.ts';
import type { VisibleGraph } from '../../view/visible.ts';
import { layOutWhole } from '../acts.ts';
import { comparedLines, comparedMarks } from './comparedMarks.ts';
import { Divider } from '../divider.ts';
import { element } from '../elements.ts';
import type { Change } from '../picture/openings.ts';
import { whyUnmarked } from '../picture/marks.ts';
import type { Pane } from '../picture/pane.ts';
import { PaneHead } from './paneHead.ts';
import type { LineMark } from '../source/touched.ts';

export interface BesideParts {
  readonly document: Document;
  readonly first: Pane;
  /** Makes the picture at the right, of the graph with this number. */
  make(graph: number): Pane;
  /** Which of the two has the focus now. */
  active(): Pane;
  activate(pane: Pane): void;
  /** A second picture is about to be laid out, or the first one alone again. */
  second(there: boolean): void;
  /** There are two pictures now, or one again. */
  changed(): void;
}

const NONE: ReadonlyMap<number, LineMark> = new Map();

export class Beside {
  /** Both pictures, with the divider between them. */
  readonly root = element('div', 'jv-stages');
  readonly divider: Divider;
  private second: Pane | null = null;
  private heads: readonly PaneHead[] = [];

  constructor(private readonly parts: BesideParts) {
    this.divider = new Divider({
      what: 'left picture',
      key: 'jaxviz.divider',
      own: () => 0.5,
      moved: () => this.share(),
      rested: () => parts.changed()
    });
    this.root.append(parts.first.root);
  }

  get on(): boolean {
    return this.second !== null;
  }

  get panes(): readonly Pane[] {
    return this.second ? [this.parts.first, this.second] : [this.parts.first];
  }

  /** The number of the graph at the right; none while there is one picture. */
  get at(): number | undefined {
    return this.second?.viewing.at;
  }

  dispose(): void {
    this.panes.forEach(pane => pane.dispose());
  }

  toggle(): void {
    if (this.on) {
      this.leave();
    } else {
      this.open();
    }
  }

  /** Shows a graph at the right, at first the one that says most beside the left; `fitted`, all of both is seen. */
  open(graph = besideWhich(this.parts.document, this.parts.first.viewing.at), fitted = true): void {
    const { first } = this.parts;
    if (graph === undefined) {
      first.say("There is nothing to compare this with: %jaxviz --vs 'g(x)' f(x) puts two programs side by side");
      return;
    }
    if (this.second) {
      this.second.enter(graph);
      return;
    }
    const second = this.parts.make(graph);
    this.second = second;
    this.parts.second(true);
    this.root.classList.add('jv-beside');
    this.root.append(this.divider.root, second.root);
    this.heads = [first, second].map((pane, place) => {
      const head = new PaneHead(this.parts.document, place === 0, {
        enter: to => {
          this.parts.activate(pane);
          pane.enter(to);
        },
        light: nodes => {
          this.parts.activate(pane);
          pane.pick(nodes);
        },
        close: () => this.leave()
      });
      pane.root.prepend(head.root);
      return head;
    });
    this.share();
    this.fill();
    const { selected, openings } = first.viewing;
    // There is less room than before, as long as the person has not chosen what to see: in places that make the most of it.
    const laidOut = openings.touched ? first.layOut(selected) : first.begin(selected, true);
    if (fitted) {
      void laidOut.then(() => this.on && first.picture.fit());
    }
    void Promise.all([laidOut, second.begin()]).then(() => {
      this.marked(this.parts.active());
      // Only now have both the room that they keep.
      this.panes.forEach(pane => pane.agree());
    });
    this.parts.changed();
  }

  /** The picture at the left alone. */
  close(): void {
    const { first, activate, changed } = this.parts;
    const { second } = this;
    if (second) {
      activate(first);
      this.second = null;
      this.root.classList.remove('jv-beside');
      this.divider.root.remove();
      this.heads.forEach(head => head.root.remove());
      this.heads = [];
      second.dispose();
      this.parts.second(false);
      first.root.style.flexGrow = '';
      const { selected, openings } = first.viewing;
      first.select(selected);
      // There is more room than before, as long as the person has not chosen what to see.
      void (openings.touched ? first.layOut(selected) : first.begin(selected, true));
      changed();
    }
  }

  /** As a person does it: keys are meant for the picture that stays. */
  private leave(): void {
    this.close();
    this.parts.first.focus();
  }

  /** The picture beside this one. */
  other(pane: Pane): Pane | null {
    return pane === this.parts.first ? this.second : this.second && this.parts.first;
  }

  /** What differs in what is visible of a picture. */
  marks(pane: Pane, visible: VisibleGraph): Mark[] {
    const compared = this.compared(pane);
    return compared ? comparedMarks(this.parts.document, visible, compared, pane === this.parts.first) : [];
  }

  /** By node, what differs in all of a picture; the same as long as the same stand side by side. */
  differing(pane: Pane): ReadonlyMap<number, LineMark> {
    const compared = this.compared(pane);
    return compared ? comparedLines(compared, pane === this.parts.first) : NONE;
  }

  /** How the graph of this number is seen at first in one of them, by how it would be alone. */
  first(pane: Pane, graph: number, alone: ViewState): ViewState {
    const { document } = this.parts;
    const other = this.other(pane);
    if (!other || other.viewing.openings.touched || !areVersions(document, graph, other.viewing.at)) {
      return alone;
    }
    const [here, there] = [{ graph: document.graphs[graph], state: alone, space: pane.space() }, other.alone];
    return there ? abreast(document, here, there, measure, layout)[0] : alone;
  }

  /** Another stage is shown in one of them. */
  entered(pane: Pane): void {
    const other = this.other(pane);
    if (other) {
      this.fill();
      other.setMarks();
      other.agree();
    }
  }

  /** Something is selected or lit in one of them: its counterparts are lit in the other. */
  marked(pane: Pane): void {
    const other = this.other(pane);
    if (other && pane === this.parts.active()) {
      const [from, to] = [pane.viewing.at, other.viewing.at];
      const found = pane.viewing.told.flatMap(node => follow(this.parts.document, from, node, to));
      other.light([...new Set(found.map(({ node }) => node))]);
    }
  }

  /** Something was opened or closed in one of them. */
  opened(pane: Pane, change: Change): void {
    const other = this.other(pane);
    if (!other?.viewing.openings.copy(change)) {
      return;
    }
    if (change.row === 0) {
      layOutWhole(other);
    } else {
      void other.layOut();
    }
  }

  /** To the next box that differs, in the picture with the focus. */
  next(by: number): void {
    const pane = this.parts.active();
    const boxes = pane.marked;
    if (boxes.length) {
      const at = boxes.indexOf(pane.selectedBox());
      const to = at < 0 ? (by > 0 ? 0 : boxes.length - 1) : (at + by + boxes.length) % boxes.length;
      pane.selectBox(boxes[to]);
    } else {
      const alone = 'differences are marked while two pictures stand side by side';
      const why = whyUnmarked(this.parts.document, pane.viewing.at);
      pane.say(why ?? (this.on ? 'no difference on the screen' : alone));
    }
  }

  private compared(pane: Pane): Compared | null {
    const other = this.other(pane);
    return other && compare(this.parts.document, pane.viewing.at, other.viewing.at);
  }

  private fill(): void {
    this.panes.forEach((pane, place) => {
      const compared = this.compared(pane);
      if (compared) {
        this.heads[place]?.fill(pane.viewing.stage?.graph, pane.viewing.at, compared);
      }
    });
  }

  private share(): void {
    if (this.second) {
      this.parts.first.root.style.flexGrow = String(this.divider.at);
      this.second.root.style.flexGrow = String(1 - this.divider.at);
    }
  }
}
