/** A line of a stage's text as pieces, each with what it is: a view of the text colours them by it. */

/** What a piece of a line is; a note is what the compiler would not print. */
export type Role = 'plain' | 'op' | 'value' | 'type' | 'key' | 'note';

/** What a name stands for: what a node makes, or a body that is written apart from what calls it. */
export type Named = { readonly node: number } | { readonly body: string };

export interface Piece {
  readonly text: string;
  readonly role: Role;
  readonly named?: Named;
}

/** Characters of one attribute at most: a constant or a configuration of a kernel may have thousands. */
const MOST_OF_ONE = 240;

export const plain = (text: string): Piece => ({ text, role: 'plain' });
export const op = (text: string): Piece => ({ text, role: 'op' });
export const value = (text: string, node: number): Piece => ({ text, role: 'value', named: { node } });
/** `mark` is what stands before names of bodies. */
export const body = (mark: string, name: string): Piece => ({
  text: mark + name,
  role: 'value',
  named: { body: name }
});
/** A name that nothing else says. */
export const title = (text: string): Piece => ({ text, role: 'value' });
export const type = (text: string): Piece => ({ text, role: 'type' });
export const key = (text: string): Piece => ({ text, role: 'key' });
export const note = (text: string): Piece => ({ text, role: 'note' });

/** Lists of pieces with the same between each two of them. */
export function joined(lists: readonly (readonly Piece[])[], between: string): Piece[] {
  return lists.flatMap((list, index) => (index && list.length ? [plain(between), ...list] : [...list]));
}

export function elided(text: string): string {
  return text.length > MOST_OF_ONE ? `${text.slice(0, MOST_OF_ONE)}…` : text;
}

export function textOf(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('');
}
