/** The strips below the picture that tell what was measured, in the order in which one asks for it. */
import type { Document } from '../../document/graph.ts';
import { comparedTable } from '../compare/comparedTable.ts';
import { CompilingStrip } from './compiling.ts';
import { element } from '../elements.ts';
import { FindingStrip, type FindingActions } from './findings.ts';
import { MemoryStrip } from './memory.ts';
import { processesStrip } from './processes.ts';
import { RunStrip, type RunActions } from './run.ts';
import { valuesStrip } from '../details/values.ts';

/** Of so many programs a document tells what was measured: more lines than that nobody reads. */
const MOST = 4;

/** All strips below the picture: what was measured, what `others` tell, and what was found. */
export function stripsBelow(
  document: Document,
  others: readonly HTMLElement[],
  actions: RunActions & FindingActions
): HTMLElement {
  const strips = element('div', 'jv-strips');
  strips.append(
    comparedTable(document),
    ...measuredStrips(document, actions),
    ...others,
    new FindingStrip(document, actions).root
  );
  return strips;
}

/** One for each kind of measure and each program that has it; where none has, a hidden one. */
export function measuredStrips(document: Document, actions: RunActions): HTMLElement[] {
  const { measures, memory, values, compiling } = document;
  const strips = each(values, one => valuesStrip(document, actions.follow, one));
  // A value that is no number matters more than how long it took to make.
  const bad = values.some(one => one.bad >= 0);
  return [
    ...(bad ? strips : []),
    ...each(measures, one => new RunStrip(document, actions, one).root),
    ...each(memory, one => new MemoryStrip(document, actions, one).root),
    ...(bad ? [] : strips),
    ...each(compiling, one => new CompilingStrip(document, actions, one).root),
    processesStrip(document)
  ];
}

function each<Entry>(entries: readonly Entry[], make: (entry?: Entry) => HTMLElement): HTMLElement[] {
  return entries.length ? entries.slice(0, MOST).map(make) : [make()];
}
