/**
 * Words on boxes and chips: the name of the thing in the person's terms, and its type where that says something new.
 */
import { NodeKind, type Document, type Graph } from '../document/graph.ts';
import { countBelow } from '../document/sorted.ts';
import { countText } from './words.ts';

/** Names longer than this are cut; the inspector shows them whole. */
export const MAX_NAME = 22;

/**
 * Cuts a name that is too long for a box, where one letter with its marks or one emoji ends and the next begins. The
 * modules of JAX and NumPy say least, and go first: `key, noise = jax.random.split(key)` is `key, noise = split(key)`;
 * then that a gradient comes with the value: `grad(critic_loss)`. Of what is done to a function, that function says
 * most: `associative_scan(combine)` is `associative_…(combine)`, and `combine` where it is narrow.
 */
export function cut(whole: string, most = MAX_NAME): string {
  const low = whole.replace(STACKED, '$1');
  const bare = Array.from(low).length > most ? withoutModules(low) : low;
  const text = Array.from(bare).length > most ? bare.replace(GRADIENT, 'grad(') : bare;
  const characters = Array.from(text);
  if (characters.length <= most) {
    return text;
  }
  const [, outer, inner] = OF_ONE.exec(text) ?? [];
  const around = inner && cutAround(outer, inner, most);
  if (around) {
    return around;
  }
  const [part] = PART.exec(text) ?? [''];
  if (part && part.length < most / 2) {
    return cut(text.slice(0, -part.length), most - part.length) + part;
  }
  let end = most - 1;
  while (end > 0 && (JOINED.test(characters[end]) || characters[end - 1] === JOINER)) {
    end--;
  }
  const begun = characters.slice(0, end || most - 1).join('');
  return `${begun.replace(FROM, '')}…`;
}

/** A name of source without the modules of JAX and NumPy. */
export function withoutModules(name: string): string {
  return name.replace(MODULES, '');
}

/**
 * `scan(energy)` where that is too long: what is done to it is cut, and left out where no three letters of it have room;
 * but a derivative is not what it is taken of.
 */
function cutAround(outer: string, inner: string, most: number): string | undefined {
  const room = most - inner.length - 3;
  if (room >= 3) {
    return `${outer.slice(0, room)}…(${inner})`;
  }
  const left = most - outer.length - 3;
  if (DERIVATIVE.test(outer) && left >= 3) {
    return `${outer}(${inner.slice(0, left)}…)`;
  }
  return inner.length <= most ? inner : undefined;
}

const DERIVATIVE = /(^|_)(grad|[jv]jp|jac(fwd|rev|obian)|hessian|linearize)$/;
/** A function of another one that has a name. */
const OF_ONE = /^([\p{L}_][\p{L}\p{N}_.]*)\(([\p{L}_][\p{L}\p{N}_]*)\)$/u;
/** `first … last` that is cut behind the first. */
const FROM = /\s*…\s*$/u;
/** No script puts more marks on a letter; they would stand higher than the box. */
const STACKED = /(\p{Mn}{3})[\p{Mn}\p{Me}]+/gu;
/** By the names that they are imported as; an attribute or variable of the same name is none of them. */
const MODULES =
  /(?<![\p{L}\p{N}_.])(?:jax|jnp|jsp|jr|lax|np|numpy|onp)\.(?:(?:lax|linalg|nn|numpy|ops|random|scipy|special|tree|tree_util)\.)*(?=[\p{L}_])/gu;
const GRADIENT = /(?<![\p{L}\p{N}_])(?:filter_)?(?:value_and_)?grad\(/gu;
/** The end of a name that says which of several parts it is: without it, they would all read alike. */
const PART = / \d+\/\d+$/;
/** What belongs to the character before it: marks, the joiner of emoji, tones of skin. */
const JOINED = /^(?:\p{M}|\u200d|\p{Emoji_Modifier})/u;
const JOINER = '\u200d';

/** The attribute `key` of a node, or undefined. Attributes stand in the order of their nodes. */
export function attribute(document: Document, graph: Graph, node: number, key: string): string | undefined {
  const { attributeNode, attributeKey, attributeValue } = graph;
  for (let i = firstAttribute(graph, node); i < attributeNode.length && attributeNode[i] === node; i++) {
    if (document.strings[attributeKey[i]] === key) {
      return document.strings[attributeValue[i]];
    }
  }
  return undefined;
}

/** The parameters that an operation has. */
export function attributeKeys(document: Document, graph: Graph, node: number): string[] {
  const { attributeNode, attributeKey } = graph;
  const keys: string[] = [];
  for (let i = firstAttribute(graph, node); i < attributeNode.length && attributeNode[i] === node; i++) {
    const key = document.strings[attributeKey[i]];
    if (key !== VARIABLE) {
      keys.push(key);
    }
  }
  return keys;
}

/** What the function itself calls an argument or a result, which may be a part of another: `adv` for `carry[0]`. */
export function variableOf(document: Document, graph: Graph, node: number): string {
  return attribute(document, graph, node, VARIABLE) ?? '';
}

export const VARIABLE = 'variable';

/** Where the attributes of a node begin. */
export function firstAttribute(graph: Graph, node: number): number {
  return countBelow(graph.attributeNode, node);
}

/** Names of functions that say less than the operation does. */
export const sayNothing = new Set(['', '<lambda>', 'body', 'body_fun']);

/** A name of spaces, of what only joins letters, or of marks without a letter cannot be read. */
const VISIBLE = /[^\p{Z}\p{C}\p{M}]/u;

/** What a box is called: its own name, the function of its region, or its operation. */
export function nodeLabel(document: Document, graph: Graph, node: number): string {
  const { strings } = document;
  const own = strings[graph.name[node]];
  const op = strings[graph.op[node]];
  const called = CALLS.has(op) && (!own || own.replace(/(\.\d+)+$/, '') === op) && targetOf(document, graph, node);
  if (called) {
    return called;
  }
  if (!sayNothing.has(own) && VISIBLE.test(own)) {
    return own;
  }
  const [first, end] = [graph.firstRegion[node], graph.firstRegion[node + 1]];
  if (end === first + 1) {
    const name = strings[graph.regionName[graph.ownedRegions[first]]];
    if (!sayNothing.has(name)) {
      return name;
    }
  }
  return TOLD.get(op) ?? op;
}

/** Operations that call what another library or the compiler itself has. */
const CALLS = new Set(['custom-call', 'custom_call']);

/** What such an operation calls: `TopK`, where all else that is known of it is that it calls. */
function targetOf(document: Document, graph: Graph, node: number): string {
  const target =
    attribute(document, graph, node, 'custom_call_target') ?? attribute(document, graph, node, 'call_target_name');
  return target?.replace(/^["@]+|"$/g, '') ?? '';
}

/** Operations that JAX adds, of a name that says nothing to their reader: `add_any` sums gradients or tangents. */
const TOLD: ReadonlyMap<string, string> = new Map([['add_any', 'add derivatives']]);

/** The parts of a while loop are told by what they do: their functions often have no name, or the same. */
const parts: Readonly<Record<string, string>> = { 'while cond': 'condition', 'while body': 'body' };
/** Names that a part of a loop has by custom, or from JAX's own wrappers or the compiler: `wide.region_0.35.clone`. */
const sayNoMore = /^$|^<|^_*(while|fori)?_*(loop)?_*(cond|body)(_fun)?$|^(wide\.)*region_\d+(\.\w+)*$/;

/** What a frame is called when its owner has several regions: `if true`, `body`, `condition: unsettled`. */
export function regionLabel(document: Document, graph: Graph, region: number): string {
  const name = document.strings[graph.regionName[region]];
  const kind = document.strings[graph.regionKind[region]];
  const part = parts[kind];
  if (part) {
    return sayNoMore.test(name) ? part : `${part}: ${name}`;
  }
  return name || kind;
}

/** Short spelling of the type of a value. */
export function typeText(document: Document, graph: Graph, value: number): string {
  return document.strings[document.types.text[graph.valueType[value]]];
}

/**
 * The type to write on a box: of its first output, where it differs from the type of every operand. Most element-wise
 * operations keep their type, and a picture that repeats it says nothing.
 */
export function newType(document: Document, graph: Graph, node: number): string {
  const value = graph.firstValue[node];
  const count = graph.firstValue[node + 1] - value;
  if (count === 0) {
    return '';
  }
  const type = graph.valueType[value];
  let reads = 0;
  for (let i = graph.firstOperand[node]; i < graph.firstOperand[node + 1]; i++) {
    const source = graph.operandSource[i];
    if (source >= 0 && graph.valueType[source] === type) {
      return '';
    }
    reads += source >= 0 ? 1 : 0;
  }
  return reads === 0 && graph.kind[node] === NodeKind.operation && count > 1
    ? ''
    : document.strings[document.types.text[type]];
}

/** How often a loop turns, such as `x32`, where that is known. */
export function turns(document: Document, graph: Graph, node: number): string {
  const op = document.strings[graph.op[node]];
  const key = op === 'scan' ? 'length' : op === 'while' ? 'known_trip_count' : undefined;
  const length = key && attribute(document, graph, node, key);
  // With sizes that are left open, the length of a loop is an expression of them.
  return !length ? '' : /^\d+$/.test(length) ? countText(Number(length)) : `x${length}`;
}

/**
 * The last words of a path: `params[0]['w']` is `w` on a chip, `ws[2]` stays `ws[2]`. The array of a variable that
 * stands under a key is called by the key: `state['kernel'].value`.
 */
export function shortPath(path: string): string {
  const key = /\[(['"])([^[\]]*)\1\](\.(raw_)?value)?$/.exec(path);
  if (key) {
    return key[2];
  }
  const attributeName = /\.([\p{L}_][\p{L}\p{N}_]*)$/u.exec(path);
  if (attributeName) {
    return attributeName[1];
  }
  const index = /([\p{L}_][\p{L}\p{N}_]*)(['"]?\])?(\[\d+\])$/u.exec(path);
  return index ? index[1] + index[3] : path;
}
