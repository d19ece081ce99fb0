/**
 * On paper there are no pixels of a screen: each picture is a drawing there, as wide as the paper at most. What the style
 * sheet says of paper does the rest.
 */
import type { Scene } from '../draw/scene.ts';
import type { Theme } from '../draw/theme.ts';

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

export interface Printed {
  readonly stage: HTMLElement;
  readonly scene: Scene | null;
}

/** Puts drawings in the place of pictures, light as paper is; gives what takes them away. */
export function putOnPaper(
  panes: readonly Printed[],
  drawing: { svg(scene: Scene): string },
  theme: Theme,
  dress: (theme: Theme) => void
): () => void {
  dress('light');
  const back = panes.flatMap(({ stage, scene }) =>
    scene ? [putDrawing(stage, scene.visible.count, () => drawing.svg(scene))] : []
  );
  return () => {
    back.forEach(one => one());
    dress(theme);
  };
}

/** Puts a drawing in the place of a picture of so many boxes; gives what takes it away. */
export function putDrawing(stage: HTMLElement, boxes: number, svg: () => string): () => void {
  if (boxes > MOST_BOXES) {
    return () => undefined;
  }
  const paper = document.createElement('div');
  paper.className = 'jv-paper';
  paper.append(document.importNode(new DOMParser().parseFromString(svg(), 'image/svg+xml').documentElement, true));
  stage.append(paper);
  return () => paper.remove();
}
