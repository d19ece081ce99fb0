/**
 * On paper there are no pixels of a screen: each picture is a drawing there, as wide as the paper at most. What the style
 * sheet says of paper does the rest.
 */

/** A drawing of more boxes takes long, and nobody would read it: its pixels are printed. */
const MOST_BOXES = 5_000;

/** Calls `begin` before the page is printed, and after that what it gave, until what is returned is called. */
export function followPrinting(begin: () => () => void): () => void {
  let end: (() => void) | null = null;
  const before = (): void => {
    end ??= begin();
  };
  const after = (): void => {
    end?.();
    end = null;
  };
  const page = document.defaultView;
  page?.addEventListener('beforeprint', before);
  page?.addEventListener('afterprint', after);
  return () => {
    after();
    page?.removeEventListener('beforeprint', before);
    page?.removeEventListener('afterprint', after);
  };
}

/** Puts a drawing in the place of a picture of so many boxes; gives what takes it away. */
export function putOnPaper(stage: HTMLElement, boxes: number, svg: () => string): () => void {
  if (boxes > MOST_BOXES) {
    return () => undefined;
  }
  const paper = document.createElement('div');
  paper.className = 'jv-paper';
  paper.append(document.importNode(new DOMParser().parseFromString(svg(), 'image/svg+xml').documentElement, true));
  stage.append(paper);
  return () => paper.remove();
}
