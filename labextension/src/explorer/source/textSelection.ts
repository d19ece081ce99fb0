/** The part of a long text that a person has marked, of which only some lines are elements. */
import type { Listing } from '../../text/listing.ts';

interface End {
  readonly line: number;
  readonly offset: number;
}

/** The lines in which a selection of text begins and ends, or may begin. */
export function selectionEnds(root: HTMLElement): number[] {
  return endsOf(root).map(({ line }) => line);
}

/** True where text is marked. */
export function isMarking(root: HTMLElement): boolean {
  return endsOf(root).length > 0 && root.ownerDocument.getSelection()?.isCollapsed === false;
}

/** What is marked, with the lines of it that are out of view; empty where nothing is. */
export function selectedText(root: HTMLElement, listing: Listing): string {
  const [from, to] = endsOf(root).sort((a, b) => a.line - b.line || a.offset - b.offset);
  if (!from || !isMarking(root)) {
    return '';
  }
  const lines = Array.from({ length: to.line - from.line + 1 }, (_, i) => listing.text(from.line + i));
  lines[lines.length - 1] = lines[lines.length - 1].slice(0, to.offset);
  lines[0] = lines[0].slice(from.offset);
  return lines.join('\n');
}

function endsOf(root: HTMLElement): End[] {
  const selection = root.ownerDocument.getSelection();
  if (!selection || !root.contains(selection.anchorNode)) {
    return [];
  }
  const ends = [
    endAt(root, selection.anchorNode, selection.anchorOffset),
    endAt(root, selection.focusNode, selection.focusOffset)
  ];
  return ends[0] && ends[1] ? [ends[0], ends[1]] : [];
}

function endAt(root: HTMLElement, node: Node | null, offset: number): End | null {
  const element = node instanceof Element ? node : node?.parentElement;
  const row = element?.closest<HTMLElement>('.jv-text-line');
  const code = row?.querySelector('code');
  if (!node || !row || !code || !root.contains(row)) {
    return null;
  }
  const line = Number(row.dataset.line);
  if (!code.contains(node)) {
    // Before the text, or behind it.
    const before = node === row ? offset <= 1 : code.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING;
    return { line, offset: before ? 0 : (code.textContent?.length ?? 0) };
  }
  const range = root.ownerDocument.createRange();
  range.setStart(code, 0);
  range.setEnd(node, offset);
  return { line, offset: range.toString().length };
}
