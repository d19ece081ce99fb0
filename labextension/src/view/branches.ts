/**
 * Conditions of many branches. What each branch gives is a chip there, and one edge leads on from the condition as a
 * whole: forty edges to one place say nothing, and without them the branches stand in rows that can be read.
 */
import type { Document, Graph } from '../document/graph.ts';
import type { Chip } from './visible.ts';
import { getOrMake } from '../maps';

/** Conditions of more branches than this are drawn so. */
export const MOST_JOINED = 8;

/** On what a branch gives, and on what decides which of many branches runs. */
export const GIVEN_CHIP: Omit<Chip, 'value'> = { text: '→ result', side: 'right', title: 'what this branch gives' };
export const CHOICE_CHIP: Omit<Chip, 'value'> = { text: '→ which', side: 'right', title: 'decides which branch runs' };

export class Branches {
  private readonly known = new Map<number, number>();

  constructor(
    private readonly document: Document,
    private readonly graph: Graph
  ) {}

  /** The condition of many branches in one of which `node` stands while `reader` stands in none of them; -1 for none. */
  around(node: number, reader: number): number {
    const { graph } = this;
    for (let region = graph.region[node]; region > 0; region = graph.region[graph.regionOwner[region]]) {
      const owner = graph.regionOwner[region];
      if (this.branchesOf(owner) > MOST_JOINED && !this.holds(owner, reader)) {
        return owner;
      }
    }
    return -1;
  }

  /** Where the last region of an operation ends. */
  endOf(owner: number): number {
    const { ownedRegions, firstRegion, regionEnd } = this.graph;
    return regionEnd[ownedRegions[firstRegion[owner + 1] - 1]];
  }

  private holds(owner: number, node: number): boolean {
    return node >= owner && node < this.endOf(owner);
  }

  private branchesOf(owner: number): number {
    return getOrMake(this.known, owner, () => {
      const { document, graph } = this;
      const first = graph.firstRegion[owner];
      const kind = document.strings[graph.regionKind[graph.ownedRegions[first]]];
      return kind === 'branch' ? graph.firstRegion[owner + 1] - first : 0;
    });
  }
}
