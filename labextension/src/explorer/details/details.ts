/** What there is to say about a node, as data: the inspector shows it, tests read it. */
import { follow } from '../../document/follow.ts';
import { BindingKind, NodeKind, type Document, type Graph } from '../../document/graph.ts';
import { programName, programOf, stagesOf } from '../../document/programs.ts';
import { stacksOf } from '../../view/stacks.ts';
import { bytesText } from '../../view/words.ts';
import { fateText, type FateText } from './fate.ts';
import { trafficLines } from './trafficLines.ts';
import { measureLines, type MeasureLine } from './measured.ts';
import { valueLines } from './values.ts';
import { treeAround, treesOf, type Branch } from './pathTree.ts';
import { storyLines, type StoryLine } from './story.ts';
import { firstAttribute, nodeLabel, typeText, VARIABLE, variableOf } from '../../view/label.ts';

/** A node that can be gone to. */
export interface Link {
  readonly node: number;
  readonly text: string;
  /** The row of the outline that is gone to, where that is more than the node. */
  readonly row?: number;
}

/** A line of source that a node came from. */
export interface Place {
  readonly file: string;
  readonly path: string;
  readonly line: number;
  readonly function: string;
  /** The text of the line, empty where the source is gone. */
  readonly text: string;
  readonly library: boolean;
}

/** What a node is linked to in another graph: a stage of its program, or the same stage of another. */
export interface StageLinks {
  readonly graph: number;
  readonly kind: string;
  /** The other program that the stage is of; empty for the own one. */
  readonly program: string;
  readonly links: readonly Link[];
  /** Whether all links carry the tag of one equation, or how else they were found. */
  readonly surety: string;
}

/** How a value comes into a region: `starts with` a box, `slice of` another. */
export interface Origin {
  readonly how: string;
  readonly from: Link | { readonly node: -1; readonly text: string };
}

export interface Details {
  /** The node that they are of; none for a row. */
  readonly node?: number;
  readonly title: string;
  readonly kind: string;
  /** For what stands for a value from outside its region: where the value comes from. */
  readonly origins: readonly Origin[];
  /** Types of what it makes, with their size in words. */
  readonly values: readonly { readonly type: string; readonly size: string }[];
  readonly operations: number;
  /** Parameters of the operation, in full. */
  readonly parameters: readonly { readonly key: string; readonly value: string }[];
  /** Innermost first. */
  readonly places: readonly Place[];
  /** Lines of the person's own that other equations in it come from, where it was made of several. */
  readonly otherPlaces: readonly Place[];
  readonly scope: string;
  /** The source of an expression or statement. */
  readonly code: string;
  readonly fate: FateText | null;
  readonly stages: readonly StageLinks[];
  readonly reads: readonly (Link | { readonly node: -1; readonly text: string })[];
  readonly readBy: readonly Link[];
  /** For an argument or a result that is a part of a tree: all of that tree. */
  readonly tree?: Branch;
  /** Trees of arguments among what it reads. */
  readonly readTrees?: readonly Branch[];
  /** Owners of the regions around it, outermost first. */
  readonly inside: readonly Link[];
  /** What the passes of the compiler did to it. */
  readonly story?: readonly StoryLine[];
  /** What was measured of it. */
  readonly measures?: readonly MeasureLine[];
}

const KINDS = ['', 'argument', 'result', 'constant'] as const;

const ORIGINS: Readonly<Record<number, string>> = {
  [BindingKind.enter]: 'same as',
  [BindingKind.init]: 'starts with',
  [BindingKind.slice]: 'slice of',
  [BindingKind.carry]: 'next turn from'
};

export function details(document: Document, graph: Graph, node: number): Details {
  const { strings } = document;
  const op = strings[graph.op[node]];
  const values = [];
  for (let value = graph.firstValue[node]; value < graph.firstValue[node + 1]; value++) {
    values.push({
      type: typeText(document, graph, value),
      size: bytesText(document.types.bytes[graph.valueType[value]])
    });
  }
  const parameters = [];
  for (let i = firstAttribute(graph, node); i < graph.attributeNode.length && graph.attributeNode[i] === node; i++) {
    const [key, value] = [strings[graph.attributeKey[i]], strings[graph.attributeValue[i]]];
    // What is called by its variable is told by its path too.
    parameters.push(key === VARIABLE ? { key: 'path', value: strings[graph.name[node]] } : { key, value });
  }
  const { role, origins } = bound(document, graph, node);
  const title =
    graph.kind[node] === NodeKind.operation
      ? nodeLabel(document, graph, node)
      : variableOf(document, graph, node) || strings[graph.name[node]] || role;
  const tree = treeAround(document, graph, node);
  const reads = readsOf(document, graph, node);
  return {
    node,
    title,
    ...(tree ? { tree } : {}),
    readTrees: treesOf(
      document,
      graph,
      reads.map(one => one.node).filter(one => one >= 0)
    ),
    kind: graph.kind[node] === NodeKind.operation ? (op === title ? '' : op) : role,
    origins,
    values,
    operations: 0,
    code: '',
    parameters,
    places: placesOf(document, graph.stack[node]),
    otherPlaces: otherPlacesOf(document, graph, node),
    scope: strings[graph.scope[node]],
    fate: fateText(document, graph, node),
    stages: stageLinks(document, graph, [node]),
    reads,
    readBy: readersOf(document, graph, node),
    inside: ownersOf(document, graph, node),
    story: storyLines(document, graph, node),
    measures: [
      ...measureLines(document, graph, -1 - node),
      ...trafficLines(document, graph, [node]),
      ...valueLines(document, graph, node)
    ]
  };
}

const SURETY = ['', 'of several', 'inferred', 'changed'] as const;

/** What nodes became, or came from, in the other stages of their program, and in the same stage of the other programs. */
export function stageLinks(document: Document, graph: Graph, nodes: readonly number[]): StageLinks[] {
  const from = document.graphs.indexOf(graph);
  const own = programOf(document, from);
  const kind = document.programs[own]?.stages.find(stage => document.graphs[stage.graph].kind === graph.kind)?.kind;
  const found: StageLinks[] = [];
  for (const { program, stage } of stagesOf(document)) {
    // The same graph by its kernels has the same columns.
    const same = stage.graph === from || document.graphs[stage.graph].kind === graph.kind;
    if (same || (program !== own && stage.kind !== kind)) {
      continue;
    }
    const all = nodes.flatMap(node => follow(document, from, node, stage.graph));
    const each = [...new Map(all.map(one => [one.node, one])).values()];
    const other = document.graphs[stage.graph];
    const working = each.filter(({ node }) => document.strings[other.op[node]] !== 'constant');
    const followed = working.length ? working : each;
    if (followed.length) {
      const least = Math.max(...followed.map(one => one.kind));
      found.push({
        graph: stage.graph,
        kind: stage.kind,
        program: program === own ? '' : programName(document, program),
        links: followed.map(one => linkTo(document, other, one.node)),
        surety: SURETY[least] ?? ''
      });
    }
  }
  return found;
}

function placesOf(document: Document, stack: number): Place[] {
  const { frames, files, stacks, strings } = document;
  const places: Place[] = [];
  for (let at = stack; at >= 0; at = stacks.parent[at]) {
    const frame = stacks.frame[at];
    const file = frames.file[frame];
    const lines = strings[files.text[file]];
    places.push({
      file: strings[files.label[file]],
      path: strings[files.path[file]],
      line: frames.line[frame],
      function: strings[frames.function[frame]],
      text: lines ? (lines.split('\n')[frames.line[frame] - files.start[file]] ?? '').trim() : '',
      library: files.library[file] === 1
    });
  }
  return places;
}

function otherPlacesOf(document: Document, graph: Graph, node: number): Place[] {
  const [own, ...others] = stacksOf(document, graph, node).map(stack =>
    placesOf(document, stack).find(place => !place.library)
  );
  const seen = new Set([own && lineOf(own)]);
  return others
    .filter(place => place !== undefined)
    .filter(place => !seen.has(lineOf(place)) && seen.add(lineOf(place)));
}

function lineOf({ path, line }: Place): string {
  return `${path}:${line}`;
}

export function linkTo(document: Document, graph: Graph, node: number): Link {
  const name = variableOf(document, graph, node) || document.strings[graph.name[node]];
  const text =
    graph.kind[node] === NodeKind.operation ? nodeLabel(document, graph, node) : name || KINDS[graph.kind[node]];
  return { node, text };
}

function readsOf(document: Document, graph: Graph, node: number): Details['reads'] {
  const reads: (Link | { readonly node: -1; readonly text: string })[] = [];
  for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
    reads.push(sourceOf(document, graph, graph.operandSource[i]));
  }
  return reads;
}

/** The maker of a value, or the text of a literal. */
function sourceOf(document: Document, graph: Graph, source: number): Details['reads'][number] {
  return source < 0
    ? { node: -1, text: document.strings[graph.literalText[-1 - source]] }
    : linkTo(document, graph, graph.valueNode[source]);
}

/** What an argument is to its region, and where its value comes from: a loop carries it or takes a slice each turn. */
function bound(document: Document, graph: Graph, node: number): { role: string; origins: Origin[] } {
  let role: string = KINDS[graph.kind[node]];
  const origins: Origin[] = [];
  graph.bindingTo.forEach((to, binding) => {
    const kind = graph.bindingKind[binding];
    // What leaves a region is bound to a value; all else to a node.
    if (to !== node || kind === BindingKind.leave || kind === BindingKind.stack) {
      return;
    }
    const from = graph.bindingFrom[binding];
    role = kind === BindingKind.enter ? role : kind === BindingKind.slice ? 'slice' : 'carry';
    const source = kind === BindingKind.carry ? graph.operandSource[graph.firstOperand[from]] : from;
    origins.push({ how: ORIGINS[kind], from: sourceOf(document, graph, source) });
  });
  return { role, origins };
}

function readersOf(document: Document, graph: Graph, node: number): Link[] {
  const [first, end] = [graph.firstValue[node], graph.firstValue[node + 1]];
  const readers: Link[] = [];
  let reader = 0;
  for (let i = 0; i < graph.operandSource.length; i++) {
    while (graph.firstOperand[reader + 1] <= i) {
      reader++;
    }
    const source = graph.operandSource[i];
    if (source >= first && source < end && readers[readers.length - 1]?.node !== reader) {
      readers.push(linkTo(document, graph, reader));
    }
  }
  return readers;
}

function ownersOf(document: Document, graph: Graph, node: number): Link[] {
  const owners: Link[] = [];
  for (let owner = graph.regionOwner[graph.region[node]]; owner >= 0; owner = graph.regionOwner[graph.region[owner]]) {
    owners.unshift(linkTo(document, graph, owner));
  }
  return owners;
}
