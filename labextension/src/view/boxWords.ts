/** What the boxes on the screen say, as long or short as there is room for. */
import { NodeKind, RowKind, type Document, type Graph } from '../document/graph.ts';
import type { Boxes } from './boxes.ts';
import { listed, ownName, turnWord } from './chips.ts';
import { cutApart } from './cutApart.ts';
import { Apart, Brevity, type ViewState } from './folds.ts';
import { givenType } from './given.ts';
import { cut, MAX_NAME, newType, turns, typeText, variableOf } from './label.ts';
import { boxLabel, childrenOf, ownerIn, rowLabel, rowOperation, type Rows } from './outline.ts';
import { assignedTo, isSeveral, toldApart } from './toldApart.ts';
import { Shape } from './visible.ts';

/** Names are cut at this where there is room. */
const LONG_NAME = 44;
/** And at this where it is narrow. */
const SHORT_NAME = 14;
/** And at this where words are shortest. */
const SHORTEST_NAME = 12;

/** How much is said: a part of how a person looks at a graph. */
export type Wordy = Pick<ViewState, 'brevity' | 'types' | 'long' | 'apart'>;

export class BoxWords {
  readonly label: string[];
  /** Labels that were cut, in full. */
  readonly whole = new Map<number, string>();
  readonly detail: string[];
  private readonly rows: Rows;

  constructor(
    private readonly document: Document,
    private readonly graph: Graph,
    private readonly boxes: Boxes,
    private readonly wordy: Wordy
  ) {
    this.rows = boxes.folds.rows;
    const names = boxes.item.map((_, box) => this.nameOf(box));
    this.label = cutApart(
      names,
      names.map((name, box) => this.shortened(box, name))
    );
    names.forEach((name, box) => {
      const others = boxes.others.get(box);
      if (others) {
        const nodes = [boxes.node[box], ...others];
        this.whole.set(box, [`${name}:`, ...listed(nodes.map(node => this.resultLabel(node)))].join('\n'));
      } else if (this.label[box] !== name) {
        this.whole.set(box, name);
      }
    });
    this.detail = boxes.item.map((_, box) => this.detailOf(box).filter(Boolean).join(' '));
    if (wordy.apart) {
      this.tellApart();
    }
  }

  private nameOf(box: number): string {
    const { document, graph, rows } = this;
    const { item, node, shape } = this.boxes;
    if (item[box] >= 0) {
      return rowLabel(document, graph, rows, item[box]);
    }
    if (shape[box] === Shape.turn) {
      return this.turnLabel(node[box]);
    }
    switch (graph.kind[node[box]]) {
      case NodeKind.argument:
        return document.strings[graph.name[node[box]]] || 'argument';
      case NodeKind.result: {
        const others = this.boxes.others.get(box);
        return others ? `${others.length + 1} results` : this.resultLabel(node[box]);
      }
      default:
        return boxLabel(document, graph, rows, node[box]);
    }
  }

  private detailOf(box: number): readonly string[] {
    const { document, graph } = this;
    const { folds, item, node, shape, ghostOf } = this.boxes;
    const row = item[box];
    if (row >= 0 && shape[box] === Shape.frame) {
      return [this.rowDetail(row), this.turnsOf(row), folds.beside.share(row)];
    }
    if (row >= 0) {
      return [this.turnsOf(row), folds.beside.share(row), ghostOf(row).word || this.rowType(row, node[box])];
    }
    if (shape[box] === Shape.turn) {
      return [this.type(node[box])];
    }
    switch (graph.kind[node[box]]) {
      case NodeKind.argument:
        return [this.wordy.brevity === Brevity.shortest ? '' : this.type(node[box])];
      case NodeKind.result: {
        const nodes = [node[box], ...(this.boxes.others.get(box) ?? [])];
        return [nodes.length > 1 && nodes.every(one => this.boxes.isUnchanged(one)) ? 'unchanged' : ''];
      }
      default:
        return [
          turns(document, graph, node[box]),
          folds.beside.share(row),
          ghostOf(row).word || this.newType(node[box])
        ];
    }
  }

  /** Closed rows beside each other that look alike and hold different things say what differs, but for those that are gone. */
  private tellApart(): void {
    const { item, ghost, shape, parent, times } = this.boxes;
    const looks = new Map<string, number[]>();
    item.forEach((row, box) => {
      if (row >= 0 && !ghost[box]) {
        const look = [shape[box], parent[box], times[box], this.label[box], this.detail[box]].join('\n');
        looks.set(look, [...(looks.get(look) ?? []), box]);
      }
    });
    for (const boxes of looks.values()) {
      const rows = boxes.length > 1 ? boxes.map(box => item[box]) : [];
      const variables = assignedTo(this.document, this.rows, rows);
      if (this.wordy.apart === Apart.assigned) {
        // Several variables are called by what is in each, not by what made them.
        const told = variables.some(isSeveral) ? [] : variables;
        told.forEach((variable, at) => this.rename(boxes[at], variable));
        continue;
      }
      const told =
        variables.length || shape[boxes[0]] !== Shape.box
          ? variables
          : toldApart(this.document, this.graph, this.rows, rows);
      told.forEach((words, at) => {
        const box = boxes[at];
        this.detail[box] = [this.detail[box], words].filter(Boolean).join(', ');
      });
    }
  }

  /** What a box is assigned to stands for its name, which is said where all of it is. */
  private rename(box: number, variable: string): void {
    const name = this.whole.get(box) ?? this.label[box];
    this.label[box] = this.shortened(box, variable);
    this.whole.set(box, `${name}, ${variable}`);
  }

  /** What fits where there is little room. */
  private shortened(box: number, label: string): string {
    const { brevity = Brevity.none } = this.wordy;
    const shape = this.boxes.shape[box];
    const isShort = shape === Shape.box ? brevity > Brevity.none : shape === Shape.port && brevity === Brevity.shortest;
    if (!isShort) {
      return cut(label, this.wordy.long ? LONG_NAME : MAX_NAME);
    }
    const most = brevity === Brevity.shortest ? SHORTEST_NAME : SHORT_NAME;
    const row = this.boxes.item[box];
    const isBody = row >= 0 && this.rows.outline.kind[row] === RowKind.body;
    return cut(isBody && label.length > most ? label.replace(/^while .*/s, 'while') : label, most);
  }

  /** The operation of a loop or condition, where the label is another name; the call of a phase, where there are others. */
  private rowDetail(row: number): string {
    const { outline, detail } = this.rows;
    if (outline.kind[row] === RowKind.phase) {
      const beside = [...childrenOf(this.rows, outline.parent[row])];
      const calls = beside.filter(one => outline.kind[one] === RowKind.phase).map(one => detail[one]);
      return new Set(calls.filter(Boolean)).size > 1 ? detail[row] : '';
    }
    return rowOperation(this.document, this.graph, this.rows, row);
  }

  /** How often a loop turns, where that is known, or which copy of a stack it is. */
  private turnsOf(row: number): string {
    const { document, graph, rows } = this;
    if (rows.outline.copy[row] >= 0) {
      return `${rows.outline.copy[row] + 1} of ${rows.outline.count[rows.outline.parent[row]]}`;
    }
    const node = ownerIn(document, graph, rows.outline, row);
    return rows.outline.kind[row] === RowKind.loop && graph.kind[node] === NodeKind.operation
      ? turns(document, graph, node)
      : '';
  }

  /** The type of what a closed row gives, where it is new or there is room for it. */
  private rowType(row: number, node: number): string {
    const { document, graph, rows } = this;
    if (rows.operations[row] === 1) {
      return this.newType(node);
    }
    return this.wordy.types ? givenType(document, graph, rows, row) : '';
  }

  private turnLabel(node: number): string {
    const { document, graph } = this;
    const role = turnWord(graph, node);
    const name = variableOf(document, graph, node) || ownName(document, graph, node);
    return name ? `${role} ${name}` : role;
  }

  private resultLabel(node: number): string {
    const { document, graph } = this;
    const variable = variableOf(document, graph, node);
    return variable ? `result ${variable}` : document.strings[graph.name[node]] || 'result';
  }

  private newType(node: number): string {
    return this.wordy.brevity === Brevity.shortest ? '' : newType(this.document, this.graph, node);
  }

  private type(node: number): string {
    const { document, graph } = this;
    const value = graph.firstValue[node];
    return value < graph.firstValue[node + 1] ? typeText(document, graph, value) : '';
  }
}
