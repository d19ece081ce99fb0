/** Outputs of a cell that a kernel has emptied, because the line on progress that they showed has passed. */

/** What is asked of an output of a cell. */
export interface Output {
  readonly output_type: unknown;
  readonly metadata?: unknown;
}

/** The outputs of a cell. */
export interface Outputs<Each extends Output> {
  toJSON(): Each[];
  fromJSON(outputs: Each[]): void;
}

/** Removes them. A front end finds what is displayed again by its place: none moves that may be. */
export function removePassed<Each extends Output>(outputs: Outputs<Each>): void {
  const all = outputs.toJSON();
  const last = all.reduce((last, output, place) => (mayChange(output) ? place : last), -1);
  const kept = all.filter((output, place) => place < last || !isPassed(output));
  if (kept.length < all.length) {
    outputs.fromJSON(kept);
  }
}

/** Whether the kernel may display something else in its place. */
function mayChange(output: Output): boolean {
  return output.output_type === 'display_data' && !isPassed(output);
}

/** Whether the kernel has marked it, see `jaxviz/measure/told.py`. */
function isPassed({ metadata }: Output): boolean {
  return (metadata as { jaxviz?: unknown } | undefined)?.jaxviz === 'passed';
}
