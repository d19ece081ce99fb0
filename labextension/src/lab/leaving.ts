/**
 * What an output leaves when it is taken away, kept for a moment. JupyterLab makes an output anew where a colleague has
 * changed how it is seen, or its cell is moved; then the picture goes on in the next output, as the person left it.
 */

/** ms that something left waits for whoever goes on with it. */
const PATIENCE = 1_000;

export interface Left {
  /** Nobody goes on with it. */
  end(): void;
}

export class Leaving<One extends Left> {
  private readonly left = new Map<One, ReturnType<typeof setTimeout>>();

  put(one: One): void {
    const end = (): void => {
      this.left.delete(one);
      one.end();
    };
    this.left.set(one, setTimeout(end, PATIENCE));
  }

  /** The first that fits; it is the caller's from then on. */
  take(fits: (one: One) => boolean): One | undefined {
    for (const [one, timer] of this.left) {
      if (fits(one)) {
        clearTimeout(timer);
        this.left.delete(one);
        return one;
      }
    }
    return undefined;
  }
}
