/** Where a person goes in a document: to a node, a stage or a program, in the picture that shows it. */
import { follow } from '../document/follow.ts';
import type { Document } from '../document/graph.ts';
import { programOf, stagesOf } from '../document/programs.ts';
import { goTo } from './acts.ts';
import type { Pane } from './picture/pane.ts';
import { itemFor } from './details/row.ts';

export interface Ground {
  readonly document: Document;
  /** The picture with the focus, and those that stand side by side. */
  readonly pane: Pane;
  readonly panes: readonly Pane[];
  /** Gives a picture the focus. */
  activate(pane: Pane): void;
}

/**
 * Shows another stage of the program, by its place or its kind. The selection goes along the links, and so does what was
 * lit. Of two programs side by side that show the same stage, both go. `keys` are meant for the picture then.
 */
export function goToStage({ document, pane, panes }: Ground, which: number | string, keys = true): void {
  const { stages } = document.programs[pane.viewing.program];
  const stage = typeof which === 'number' ? stages[which] : stages.find(({ kind }) => kind === which);
  if (!stage) {
    return;
  }
  const other = panes.find(one => one !== pane && one.viewing.program !== pane.viewing.program);
  if (other && other.viewing.stage?.kind === pane.viewing.stage?.kind) {
    const same = document.programs[other.viewing.program].stages.find(({ kind }) => kind === stage.kind);
    if (same) {
      other.enter(other.viewing.graphOf(same), -1, false);
    }
  }
  pane.enter(pane.viewing.graphOf(stage), -1, keys);
}

/** Shows another program: the stage that is shown of this one, or its first. */
export function goToProgram({ document, pane }: Ground, number: number): void {
  const { stages } = document.programs[number];
  const kind = pane.viewing.stage?.kind;
  pane.enter(pane.viewing.graphOf(stages.find(stage => stage.kind === kind) ?? stages[0]));
}

/** Shows a node of a graph: in the picture where that graph is shown, else in this one. */
export function goToNodeOf({ document, pane, panes, activate }: Ground, graph: number, node: number): void {
  const there = [pane, ...panes].find(one => one.viewing.at === graph);
  if (there) {
    activate(there);
    there.goToNode(node);
  } else {
    const stage = stagesOf(document).find(one => one.stage.graph === graph)?.stage;
    pane.enter(stage ? pane.viewing.graphOf(stage) : graph, node);
  }
}

/**
 * Lights nodes of a graph by what they became here; where nothing is left of them, in their own graph, with the `keys`.
 * Of two programs side by side, that is in the picture of theirs.
 */
export function goToNodes(ground: Ground, graph: number, nodes: readonly number[], keys = true): void {
  const { document } = ground;
  const program = programOf(document, graph);
  const pane = [ground.pane, ...ground.panes].find(({ viewing }) => viewing.program === program) ?? ground.pane;
  if (pane !== ground.pane) {
    ground.activate(pane);
    // What is lit there belongs with the other picture.
    pane.select(null);
  }
  const here = nodes.flatMap(node => follow(document, graph, node, pane.viewing.at).map(to => to.node));
  if (here.length) {
    pane.pick(here);
    return;
  }
  pane.enterLit(graph, nodes, keys);
}

/** How what stands around the pictures leads into them: it lights nodes, or goes to one, which tells its details. */
export interface Ways {
  show(graph: number, nodes: readonly number[]): void;
  follow(graph: number, node: number): void;
}

export function waysInto(ground: () => Ground): Ways {
  return {
    show: (graph, nodes) => goToNodes(ground(), graph, nodes),
    follow: (graph, node) => goToNodeOf(ground(), graph, node)
  };
}

/** Selects a node of the graph on the screen, lights several, or lets go of all. */
export function selectNodes(pane: Pane, nodes: readonly number[]): void {
  const { graph, rows } = pane.viewing;
  const known = nodes.filter(node => node >= 0 && node < graph.nodeCount);
  if (known.length === 1) {
    goTo(pane, itemFor(graph, rows, known[0]));
  } else if (known.length) {
    pane.pick(known);
  } else {
    pane.select(null);
  }
}
