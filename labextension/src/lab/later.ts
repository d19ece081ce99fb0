/** What shows documents, loaded with the first of them: a page without any pays nothing for it. */
import type { decode, textOf } from '../document/decode.ts';
import type { Explorer } from '../explorer/explorer.ts';
import type { comeForward, takePlace } from '../explorer/versions/succession.ts';
import type { LayoutClient } from '../layout/client.ts';

export interface Loaded {
  readonly decode: typeof decode;
  readonly textOf: typeof textOf;
  readonly Explorer: typeof Explorer;
  readonly LayoutClient: typeof LayoutClient;
  readonly takePlace: typeof takePlace;
  readonly comeForward: typeof comeForward;
}

export async function loaded(): Promise<Loaded> {
  const [decoding, exploring, placing, succession] = await Promise.all([
    import('../document/decode.ts'),
    import('../explorer/explorer.ts'),
    import('../layout/client.ts'),
    import('../explorer/versions/succession.ts')
  ]);
  return {
    decode: decoding.decode,
    textOf: decoding.textOf,
    Explorer: exploring.Explorer,
    LayoutClient: placing.LayoutClient,
    takePlace: succession.takePlace,
    comeForward: succession.comeForward
  };
}
