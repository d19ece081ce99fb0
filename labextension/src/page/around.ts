/** A figure in a page of documentation is light or dark as that page is, whatever the system is. */

/** The numbers in `rgb(1, 2, 3)` and `rgba(1, 2, 3, 0.4)`, as computed styles have them. */
const COLOUR = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/;
/** More than this of a colour is seen as the background. */
const COVERS = 0.5;
/** Of 255. */
const MIDDLE = 128;

/** Tells now, and whenever the page around `frame` changes, whether that is light; nothing where it does not say. */
export function followPageAround(frame: Element, told: (light: boolean) => void): void {
  const page = frame.ownerDocument;
  const tell = (): void => {
    const light = isLightBehind(frame);
    if (light !== undefined) {
      told(light);
    }
  };
  const observer = new MutationObserver(tell);
  for (const element of [page.documentElement, page.body]) {
    observer.observe(element, { attributes: true });
  }
  // A page may go from one colour to the other slowly, or with the system.
  page.addEventListener('transitionend', tell);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', tell);
  tell();
}

function isLightBehind(frame: Element): boolean | undefined {
  for (let element = frame.parentElement; element; element = element.parentElement) {
    const found = COLOUR.exec(getComputedStyle(element).backgroundColor);
    if (found && Number(found[4] ?? 1) > COVERS) {
      const [red, green, blue] = found.slice(1, 4).map(Number);
      return 0.299 * red + 0.587 * green + 0.114 * blue >= MIDDLE;
    }
  }
  return undefined;
}
