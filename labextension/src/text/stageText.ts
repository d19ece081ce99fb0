/** The text of a stage: in which syntax a graph of a document is written, and what that is called. */
import type { Document, Graph, Stage } from '../document/graph.ts';
import { programName, programOf } from '../document/programs.ts';
import { placeOf } from '../document/states.ts';
import { HloSyntax } from './hlo.ts';
import { JaxprSyntax } from './jaxpr.ts';
import { Lines, Listing, type Syntax } from './listing.ts';
import { StablehloSyntax } from './stablehlo.ts';
import { getOrMake } from '../maps';

/** The forms of a program by the kinds of their stages; whatever else there is, as the states of the compiler, is HLO. */
const SYNTAXES: Readonly<Record<string, new (document: Document, graph: Graph) => Syntax>> = {
  jaxpr: JaxprSyntax,
  stablehlo: StablehloSyntax
};

const known = new WeakMap<Graph, Listing>();

/** The lines of a graph, worked out once. */
export function listingOf(document: Document, graph: Graph): Listing {
  return getOrMake(known, graph, () => {
    const syntax = new (SYNTAXES[stageOf(document, graph)?.kind ?? ''] ?? HloSyntax)(document, graph);
    const lines = new Lines();
    syntax.lay(lines);
    return new Listing(syntax, lines, graph.nodeCount);
  });
}

const NAMES: Readonly<Record<string, string>> = { jaxpr: 'jaxpr', stablehlo: 'StableHLO' };

/** What the text of a graph is called, in a word or two; of several programs, whose it is. */
export function formName(document: Document, graph: Graph): string {
  const at = document.graphs.indexOf(graph);
  const pass = placeOf(document, at);
  const form = pass ? `HLO, pass ${pass.number}` : (NAMES[stageOf(document, graph)?.kind ?? ''] ?? 'HLO');
  return document.programs.length > 1 ? `${form} of ${programName(document, programOf(document, at))}` : form;
}

/** The stage that a graph is; none for a state of the compiler. The same graph in another fold has the same columns. */
function stageOf({ programs, graphs }: Document, { kind }: Graph): Stage | undefined {
  return programs.flatMap(({ stages }) => stages).find(({ graph }) => graphs[graph].kind === kind);
}
