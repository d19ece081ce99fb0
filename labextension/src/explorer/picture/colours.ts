/** What the colours say: the choice of it, the looks of the boxes, and what the legend tells. */
import type { Document, Graph } from '../../document/graph.ts';
import { AMOUNTS, GROUPS } from '../../draw/colours.ts';
import { kindLooks } from '../../draw/scene.ts';
import type { LookName, Role } from '../../draw/theme.ts';
import { checkpointColourings } from '../../view/checkpoints.ts';
import { colourings, groupsOfBoxes, ranked, type Colouring, type Groups } from '../../view/colouring.ts';
import { families, family } from '../../view/family.ts';
import { figureText, figuredOf, ofItem } from '../../view/measures.ts';
import { Shape, type VisibleGraph } from '../../view/visible.ts';
import { element } from '../elements.ts';
import type { LegendEntry } from './legend.ts';
import { getOrMake } from '../../maps';

export interface Coloured {
  /** Of each box. */
  readonly looks: readonly LookName[];
  /** What the colours say, in words; empty for the kinds of operations, which need none. */
  readonly title: string;
  readonly legend: readonly LegendEntry[];
}

/** Families that have a colour of their own. */
const COLOURED: readonly Role[] = ['matmul', 'reduction', 'movement', 'random', 'communication'];
const REST: LookName = 'box-control';
const NOT_KEPT: LegendEntry = { look: 'ghost', label: 'not kept' };

export class Colours {
  readonly root = element('select', 'jv-select');
  private chosen: Colouring = colourings[0];
  private graph: Graph | null = null;
  /** Those of every document, and those of this one. */
  private readonly all: readonly Colouring[];
  /** The groups of each stage, worked out when they are asked for. */
  private readonly known = new WeakMap<Graph, Map<Colouring, Groups | null>>();
  /** Which colour each group has on the screen. */
  private readonly ranks = new WeakMap<Groups, Int32Array>();

  /** `changed` is called when the person has chosen. */
  constructor(
    private readonly source: Document,
    private readonly changed: () => void
  ) {
    const { root } = this;
    this.all = [...colourings, ...checkpointColourings(source)];
    root.setAttribute('aria-label', 'Colour by (c)');
    root.title = 'What the colours say (c)';
    for (const { key, label } of this.all) {
      const option = element('option', '', `colour: ${label}`);
      option.value = key;
      root.append(option);
    }
    root.addEventListener('change', () => this.choose(root.value));
    root.addEventListener('focus', () => this.offer());
    root.addEventListener('pointerdown', () => this.offer());
  }

  get key(): string {
    return this.chosen.key;
  }

  choose(key: string): void {
    this.chosen = this.all.find(one => one.key === key) ?? colourings[0];
    this.root.value = this.chosen.key;
    this.changed();
  }

  /** The next way to colour that says something of this stage. */
  next(): void {
    const from = this.all.indexOf(this.chosen);
    const on = this.all.findIndex((one, index) => index > from && this.says(one));
    this.choose(this.all[Math.max(0, on)].key);
  }

  /** The stage for which ways to colour are offered. */
  setGraph(graph: Graph): void {
    this.graph = graph;
  }

  /** Only what says something of this stage can be chosen. */
  private offer(): void {
    [...this.root.options].forEach((option, index) => (option.disabled = !this.says(this.all[index])));
  }

  private says(colouring: Colouring): boolean {
    return this.graph !== null && this.groups(colouring, this.graph) !== null;
  }

  private groups(colouring: Colouring, graph: Graph): Groups | null {
    const known = getOrMake(this.known, graph, () => new Map<Colouring, Groups | null>());
    return getOrMake(known, colouring, () => colouring.groups(this.source, graph));
  }

  /** The role of the palette by which an operation is told on the screen, whatever box it is in; empty where none is. */
  roleOf(graph: Graph, node: number): Role | '' {
    const { chosen, source } = this;
    const groups = this.groups(chosen, graph);
    if (!groups || chosen === colourings[0]) {
      const { key } = families[family(source.strings[graph.op[node]])];
      return COLOURED.find(role => role === key) ?? '';
    }
    const group = groups.of[node] ?? -1;
    const rank = this.ranks.get(groups)?.[group] ?? group;
    const own = chosen.amount ? AMOUNTS : GROUPS;
    return rank < 0 || rank >= own ? '' : `${chosen.amount ? 'amount' : 'group'}${rank}`;
  }

  colour(visible: VisibleGraph): Coloured {
    const groups = this.groups(this.chosen, visible.graph);
    if (!groups) {
      // What was chosen in another stage is kept for it, and said.
      return {
        ...this.byKind(visible),
        title: `${this.chosen.title} is not known here${this.remedy()}; kind of operation`
      };
    }
    return this.chosen === colourings[0] ? this.byKind(visible) : this.byGroups(visible, groups);
  }

  /** What would make known what is chosen: figures of a run are of one that was made, and no file of the compiler's runs. */
  private remedy(): string {
    const { measures, programs } = this.source;
    const runs = !measures.length && programs.some(({ stages }) => stages.some(({ kind }) => kind === 'jaxpr'));
    return this.chosen.figure && runs ? ': run makes it known' : '';
  }

  /** What is written at frames: how much of what the colours tell is in each of them. */
  notes(visible: VisibleGraph): ReadonlyMap<number, string> {
    const notes = new Map<number, string>();
    const { figure } = this.chosen;
    const measured = figure && figuredOf(this.source, visible.graph, figure);
    if (measured) {
      visible.item.forEach((item, box) => {
        // A stack stands for several, and would have to say of how many.
        if (visible.shape[box] === Shape.frame && visible.times[box] < 2) {
          const amount = ofItem(this.source, measured, visible.graph, figure, item);
          if (amount > 0) {
            notes.set(box, figureText(figure, amount));
          }
        }
      });
    }
    return notes;
  }

  private byKind(visible: VisibleGraph): Coloured {
    const looks = kindLooks(visible);
    // A frame has no colour of its own, whatever it holds.
    const shown = new Map<number, LookName>();
    let ghosts = false;
    for (let box = 0; box < visible.count; box++) {
      if (visible.ghost[box]) {
        ghosts = true;
      } else if (visible.shape[box] === Shape.box) {
        shown.set(visible.family[box], looks[box]);
      }
    }
    const legend = [...shown]
      .sort(([a], [b]) => a - b)
      .map(([family, look]) => ({ look, label: families[family].label }));
    return { looks, title: '', legend: ghosts ? [...legend, NOT_KEPT] : legend };
  }

  private byGroups(visible: VisibleGraph, groups: Groups): Coloured {
    const { amount, title, rest = 'none' } = this.chosen;
    const own = amount ? AMOUNTS : GROUPS;
    const lookOf = (group: number): LookName =>
      group < 0 || group >= own ? REST : (`${amount ? 'amount' : 'group'}-${group}` as LookName);
    const groupOf = groupsOfBoxes(this.source, visible, this.chosen, groups);
    const rank = ranked(groupOf, groups, own);
    this.ranks.set(groups, rank);
    const of = groupOf.map(group => (group < 0 ? -1 : rank[group]));
    const names = new Map(groups.names.map((name, group) => [rank[group], name]));
    const boxes = [...of].filter((group, box) => visible.shape[box] === Shape.box || group >= 0);
    const shown = [...new Set(boxes)].sort((a, b) => a - b);
    // What the compiler does not keep looks so, whatever the colours tell, unless they tell of it too.
    const looks = Array.from(of, (group, box): LookName => {
      const plain = visible.shape[box] === Shape.frame ? 'frame' : visible.ghost[box] ? 'ghost' : REST;
      return group < 0 ? plain : lookOf(group);
    });
    const coloured = shown.filter(group => group >= 0 && group < own);
    const legend = coloured.map(group => ({ look: lookOf(group), label: names.get(group) ?? '' }));
    const others = shown.filter(group => group >= own).length;
    const plain = [...of].some((group, box) => group < 0 && visible.shape[box] === Shape.box && !visible.ghost[box]);
    if (others || plain) {
      legend.push({ look: REST, label: others ? `${others} others` : rest });
    }
    return { looks, title, legend: looks.includes('ghost') ? [...legend, NOT_KEPT] : legend };
  }
}
