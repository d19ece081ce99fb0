/** Long work in pieces: what waits on the main thread, such as a key or a frame, goes first between them. */

/** ms of work after which others go first. */
export const MOST_WORK = 12;

export function pause(): Promise<void> {
  if (typeof MessageChannel === 'undefined') {
    return Promise.resolve();
  }
  return new Promise(done => {
    const { port1, port2 } = new MessageChannel();
    // Unlike a timer, it does not wait longer the oftener it is used, nor in a page that is not seen.
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });
}

/** Does work that says where it can be interrupted. */
export async function inPieces<Result>(work: Generator<void, Result>): Promise<Result> {
  let since = performance.now();
  for (;;) {
    const { done, value } = work.next();
    if (done) {
      return value;
    }
    if (performance.now() - since > MOST_WORK) {
      await pause();
      since = performance.now();
    }
  }
}

/** Does the same without interruption. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) {
      return value;
    }
  }
}
