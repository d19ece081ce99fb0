/** What the picture can show of a policy of `jax.checkpoint`: what is kept for the way back, and what is computed again. */
import { follow } from '../document/follow.ts';
import type { CheckpointPolicy, Document, Graph } from '../document/graph.ts';
import type { Colouring, Groups } from './colouring.ts';

/** The policy under which everything is as it would be without one. */
export const AS_IT_IS = 'everything_saveable';

const GROUPS = ['kept', 'computed again'] as const;
const [KEPT, AGAIN] = [0, 1];

/** The name of the colouring of a policy. */
export function checkpointKey({ name }: CheckpointPolicy): string {
  return `checkpoint ${name}`;
}

/** A way to colour for each policy that a document knows. */
export function checkpointColourings({ residuals }: Document): Colouring[] {
  const policies = new Map(residuals.flatMap(one => one.policies.map(policy => [policy.name, policy])));
  return [...policies.values()].map(policy => ({
    key: checkpointKey(policy),
    label: policy.name === AS_IT_IS ? 'kept for the way back' : `checkpoint, ${policy.name}`,
    title: policy.name === AS_IT_IS ? 'kept for the way back' : `jax.checkpoint with ${policy.name}`,
    rest: 'nothing to keep',
    groups: (document, graph) => groupsOf(document, graph, policy.name)
  }));
}

/** The nodes that a policy computes again. */
export function recomputed({ first, count }: CheckpointPolicy): number[] {
  return first.flatMap((start, run) => Array.from({ length: count[run] }, (_, place) => start + place));
}

function groupsOf(document: Document, graph: Graph, name: string): Groups | null {
  const from = document.graphs.indexOf(graph);
  for (const { graph: at, policies } of document.residuals) {
    const policy = policies.find(one => one.name === name);
    if (!policy) {
      continue;
    }
    const of = new Int32Array(document.graphs[at].nodeCount).fill(-1);
    recomputed(policy).forEach(node => (of[node] = AGAIN));
    policy.saved.forEach(node => (of[node] = KEPT));
    if (from === at) {
      return { names: GROUPS, of };
    }
    const linked = Int32Array.from({ length: graph.nodeCount }, (_, node) => {
      const found = follow(document, from, node, at).map(to => of[to.node]);
      return found.includes(KEPT) ? KEPT : found.includes(AGAIN) ? AGAIN : -1;
    });
    if (linked.some(group => group >= 0)) {
      return { names: GROUPS, of: linked };
    }
  }
  return null;
}
