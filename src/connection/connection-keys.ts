// Seals connections with the current key, during operation.

import type { Box } from '../secret/box.ts';
import type { ConnectionRow, ConnectionStore } from '../store/secret-port.ts';
import { placeOf } from './connection.ts';

const BATCH = 100;

export class ConnectionKeys {
  private readonly deps: { readonly store: ConnectionStore; readonly box: Box };

  constructor(deps: { readonly store: ConnectionStore; readonly box: Box }) {
    this.deps = deps;
  }

  /** Returns how many. A connection whose tokens are being renewed is left for the next time. */
  async rekey(): Promise<number> {
    const { store, box } = this.deps;
    const rows = await store.connectionsOfOtherKeys({ keyId: box.primary.id, limit: BATCH });
    await store.connectionReseal({ items: rows.map((before) => ({ before, ...this.resealed(before) })) });
    if (rows.length < BATCH) return rows.length;
    return rows.length + (await this.rekey());
  }

  private resealed({ connectionId, sealed, tokens }: ConnectionRow) {
    const again = (part: 'secrets' | 'tokens', bytes: NonNullable<typeof tokens>) => {
      const place = placeOf(connectionId, part);
      return this.deps.box.seal(this.deps.box.open(bytes, place), place);
    };
    return { sealed: again('secrets', sealed), tokens: tokens === null ? null : again('tokens', tokens) };
  }
}
