/** A place for a state database in the browser itself, which outlives the page. */
import { DataConnector } from '@jupyterlab/statedb';

export class BrowserStorage extends DataConnector<string> {
  /**
   * `prefix` tells entries from those of others at the same address, as of other servers. A browser may refuse to give its
   * `storage`.
   */
  constructor(
    private readonly prefix: string,
    private readonly storage: () => Storage
  ) {
    super();
  }

  fetch(id: string): Promise<string | undefined> {
    return Promise.resolve(this.storage().getItem(this.prefix + id) ?? undefined);
  }

  override list(namespace = ''): Promise<{ ids: string[]; values: string[] }> {
    const storage = this.storage();
    const ids = Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? '')
      .filter(key => key.startsWith(this.prefix))
      .map(key => key.slice(this.prefix.length))
      .filter(id => namespace === '' || id.split(':')[0] === namespace);
    return Promise.resolve({ ids, values: ids.map(id => storage.getItem(this.prefix + id) ?? '') });
  }

  override remove(id: string): Promise<void> {
    return Promise.resolve(this.storage().removeItem(this.prefix + id));
  }

  /** Fails where the browser has no more room. */
  override async save(id: string, value: string): Promise<void> {
    this.storage().setItem(this.prefix + id, value);
    await Promise.resolve();
  }
}
