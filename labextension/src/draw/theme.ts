/**
 * Colours and looks. A look is a named combination of fill, line and face; both painters know looks only, so that
 * canvas and SVG cannot differ. The colours of the families keep apart for colour-blind eyes, and texts have a contrast
 * of at least 4.5 on what they stand on, in both palettes. Most are pairs of equal digits, which an SVG says in three,
 * and what is drawn alike has one colour, which takes one rule.
 */
import { groupColours, type ColourRole } from './colours.ts';
import type { Face } from './text.ts';

export type Theme = 'light' | 'dark';

/** Colours by role. */
export type Palette = Readonly<Record<Role, string>>;

export type Role =
  | 'background'
  | 'text'
  | 'muted'
  | 'line'
  | 'edge'
  | 'accent'
  | 'pressed'
  | 'marked'
  | 'gone'
  | 'cable'
  | 'added'
  | 'changed'
  | 'removed'
  | 'frame'
  | 'frameLine'
  | 'plain'
  | 'plainLine'
  | 'matmul'
  | 'matmulLine'
  | 'reduction'
  | 'reductionLine'
  | 'movement'
  | 'movementLine'
  | 'random'
  | 'randomLine'
  | 'communication'
  | 'communicationLine'
  | 'hull0'
  | 'hull0Line'
  | 'hull1'
  | 'hull1Line'
  | 'hull2'
  | 'hull2Line'
  | 'hull3'
  | 'hull3Line'
  | ColourRole;

export const palettes: Readonly<Record<Theme, Palette>> = {
  light: {
    background: '#ffffff',
    text: '#222222',
    muted: '#556677',
    line: '#d2d6dd',
    edge: '#99aabb',
    accent: '#2255ee',
    pressed: '#ebf1fd',
    marked: '#dbe5fa',
    gone: '#993311',
    cable: '#7733ee',
    added: '#117766',
    changed: '#b45309',
    removed: '#bb1111',
    frame: '#f7f8fa',
    frameLine: '#d2d6dd',
    plain: '#f3f4f6',
    plainLine: '#99aabb',
    matmul: '#e0e7ff',
    matmulLine: '#6644bb',
    reduction: '#fef3c7',
    reductionLine: '#cc7711',
    movement: '#ccffee',
    movementLine: '#338888',
    random: '#fce7f3',
    randomLine: '#773377',
    communication: '#ffeedd',
    communicationLine: '#bb3322',
    hull0: '#e3edff',
    hull0Line: '#1c3c91',
    hull1: '#fdeed3',
    hull1Line: '#a3590b',
    hull2: '#dcf5ec',
    hull2Line: '#207777',
    hull3: '#f3e6fb',
    hull3Line: '#8228cb',
    ...groupColours.light
  },
  dark: {
    background: '#16181d',
    text: '#eeeeee',
    muted: '#99aabb',
    line: '#3a3f49',
    edge: '#6b7280',
    accent: '#77aaff',
    pressed: '#232b3a',
    marked: '#2a3447',
    gone: '#ff9933',
    cable: '#aa88ff',
    added: '#22ddcc',
    changed: '#ffbb22',
    removed: '#ff6666',
    frame: '#1b1e24',
    frameLine: '#3a3f49',
    plain: '#262a31',
    plainLine: '#6b7280',
    matmul: '#223355',
    matmulLine: '#8899ff',
    reduction: '#3a2f14',
    reductionLine: '#eecc66',
    movement: '#113333',
    movementLine: '#33ddcc',
    random: '#441133',
    randomLine: '#c886af',
    communication: '#442211',
    communicationLine: '#ee7722',
    hull0: '#1b2c4d',
    hull0Line: '#8aa4f7',
    hull1: '#3b2c13',
    hull1Line: '#dda643',
    hull2: '#12362f',
    hull2Line: '#2fd7c6',
    hull3: '#38214a',
    hull3Line: '#b287a0',
    ...groupColours.dark
  }
};

/** How an area or a line looks. */
export interface Look {
  readonly fill?: Role;
  readonly stroke?: Role;
  readonly width?: number;
  readonly dash?: readonly number[];
}

const family = (fill: Role, stroke: Role): Look => ({ fill, stroke, width: 1 });

/**
 * Looks by short name. Those that begin with `box-` belong to families by key. An SVG paints them in this order: copies
 * behind a box before the box, its mark after it.
 */
export const looks = {
  frame: { fill: 'frame', stroke: 'frameLine', width: 1 },
  ground: { fill: 'frame' },
  'ground-amount-0': { fill: 'amount0' },
  'ground-amount-1': { fill: 'amount1' },
  'ground-amount-2': { fill: 'amount2' },
  'ground-amount-3': { fill: 'amount3' },
  'ground-amount-4': { fill: 'amount4' },
  turn: { fill: 'background', stroke: 'plainLine', width: 1, dash: [3, 2] },
  chip: { fill: 'background', stroke: 'line', width: 1 },
  'hull-line-0': { fill: 'hull0Line' },
  'hull-way-line-0': { stroke: 'hull0Line', width: 12 },
  'hull-line-1': { fill: 'hull1Line' },
  'hull-way-line-1': { stroke: 'hull1Line', width: 12 },
  'hull-line-2': { fill: 'hull2Line' },
  'hull-way-line-2': { stroke: 'hull2Line', width: 12 },
  'hull-line-3': { fill: 'hull3Line' },
  'hull-way-line-3': { stroke: 'hull3Line', width: 12 },
  'hull-area-0': { fill: 'hull0' },
  'hull-way-area-0': { stroke: 'hull0', width: 10 },
  'hull-area-1': { fill: 'hull1' },
  'hull-way-area-1': { stroke: 'hull1', width: 10 },
  'hull-area-2': { fill: 'hull2' },
  'hull-way-area-2': { stroke: 'hull2', width: 10 },
  'hull-area-3': { fill: 'hull3' },
  'hull-way-area-3': { stroke: 'hull3', width: 10 },
  halo: { stroke: 'background', width: 4 },
  'halo-frame': { stroke: 'frame', width: 4 },
  edge: { stroke: 'edge', width: 1.2 },
  bundle: { stroke: 'edge', width: 3 },
  'edge-ghost': { stroke: 'line', width: 1.2, dash: [4, 3] },
  stub: { stroke: 'cable', width: 1.6, dash: [2, 2] },
  carry: { stroke: 'accent', width: 1.2 },
  'carry-head': { stroke: 'accent', width: 1.4 },
  cable: { stroke: 'cable', width: 1.2, dash: [2, 2] },
  'cable-label': { fill: 'background', stroke: 'cable', width: 1 },
  strong: { stroke: 'accent', width: 1.8 },
  'way-to': { stroke: 'accent', width: 1.5 },
  'way-from': { stroke: 'accent', width: 1.5, dash: [6, 3] },
  selected: { stroke: 'accent', width: 2.5 },
  ghost: { fill: 'background', stroke: 'plainLine', width: 1, dash: [4, 3] },
  linked: { stroke: 'accent', width: 1.5, dash: [2, 2] },
  'mark-added': { stroke: 'added', width: 2 },
  'mark-changed': { stroke: 'changed', width: 2, dash: [6, 2] },
  'mark-fused': { stroke: 'cable', width: 2, dash: [2, 2] },
  'mark-moved': { stroke: 'accent', width: 2, dash: [7, 2, 2, 2] },
  'mark-removed': { stroke: 'removed', width: 1.5, dash: [1, 3] },
  'mark-stopped': { stroke: 'removed', width: 2 },
  'label-added': { fill: 'background', stroke: 'added', width: 1 },
  'label-changed': { fill: 'background', stroke: 'changed', width: 1 },
  'label-fused': { fill: 'background', stroke: 'cable', width: 1 },
  'label-moved': { fill: 'background', stroke: 'accent', width: 1 },
  'label-removed': { fill: 'background', stroke: 'removed', width: 1 },
  'label-stopped': { fill: 'background', stroke: 'removed', width: 1 },
  'box-matmul': family('matmul', 'matmulLine'),
  'box-elementwise': family('plain', 'plainLine'),
  'box-reduction': family('reduction', 'reductionLine'),
  'box-movement': family('movement', 'movementLine'),
  'box-random': family('random', 'randomLine'),
  'box-control': family('background', 'plainLine'),
  'box-communication': family('communication', 'communicationLine'),
  'box-other': family('plain', 'plainLine'),
  'group-0': family('group0', 'group0Line'),
  'group-1': family('group1', 'group1Line'),
  'group-2': family('group2', 'group2Line'),
  'group-3': family('group3', 'group3Line'),
  'group-4': family('group4', 'group4Line'),
  'group-5': family('group5', 'group5Line'),
  'group-6': family('group6', 'group6Line'),
  'amount-0': family('amount0', 'amount0Line'),
  'amount-1': family('amount1', 'amount1Line'),
  'amount-2': family('amount2', 'amount2Line'),
  // Fills stay pale, so that what is written on them can be read: the most has a heavier line too.
  'amount-3': { ...family('amount3', 'amount3Line'), width: 1.8 },
  'amount-4': { ...family('amount4', 'amount4Line'), width: 2.6 },
  mark: { stroke: 'muted', width: 1.2 },
  badge: { fill: 'text' },
  'badge-spread': { fill: 'background', stroke: 'text', width: 1 }
} as const satisfies Readonly<Record<string, Look>>;

export type LookName = keyof typeof looks;

/** How a text looks. */
export const inks = {
  name: { face: 'name', role: 'text' },
  title: { face: 'title', role: 'muted' },
  type: { face: 'type', role: 'muted' },
  label: { face: 'chip', role: 'muted' },
  cabled: { face: 'chip', role: 'cable' },
  'marked-added': { face: 'chip', role: 'added' },
  'marked-changed': { face: 'chip', role: 'changed' },
  'marked-fused': { face: 'chip', role: 'cable' },
  'marked-moved': { face: 'chip', role: 'accent' },
  'marked-removed': { face: 'chip', role: 'removed' },
  'marked-stopped': { face: 'chip', role: 'removed' },
  gone: { face: 'title', role: 'muted' },
  port: { face: 'title', role: 'text' },
  'hull-0': { face: 'chip', role: 'hull0Line' },
  'hull-1': { face: 'chip', role: 'hull1Line' },
  'hull-2': { face: 'chip', role: 'hull2Line' },
  'hull-3': { face: 'chip', role: 'hull3Line' },
  count: { face: 'chip', role: 'background' },
  spread: { face: 'chip', role: 'text' }
} as const satisfies Readonly<Record<string, { face: Face; role: Role }>>;

export type Ink = keyof typeof inks;
