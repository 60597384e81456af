// The store with sealing: secrets of webhooks, consumers and the engine are sealed before they are written and opened when they
// are read (S6). Callers do not notice. A text is bound to its tenant (S1): moved to another tenant's row, it does not open.

import { PawlError } from '../core/error/pawl-error.ts';
import { isSealedText } from '../protocol/webhook-secret.ts';
import type { ConsumerRow } from '../store/delivery-port.ts';
import type { Store } from '../store/port.ts';
import type { SealedTextRow } from '../store/secret-port.ts';
import type { NewPipeline } from '../store/workflow-port.ts';
import { type Box, SealError } from './box.ts';

const webhookPlace = (tenantId: string): string => JSON.stringify(['webhook', tenantId]);
const consumerPlace = (tenantId: string, code: string): string => JSON.stringify(['consumer', tenantId, code]);
const enginePlace = (name: string): string => JSON.stringify(['engine', name]);

const REKEY_BATCH = 100;

export function sealedStore(store: Store, box: Box): Store {
  return {
    ...store,
    triggerCreate: (trigger) => {
      const secrets = trigger.secrets.map((secret) => box.sealText(secret, webhookPlace(trigger.tenantId)));
      return store.triggerCreate({ ...trigger, secrets });
    },
    webhookSecretAdd: (params) =>
      store.webhookSecretAdd({ ...params, secret: box.sealText(params.secret, webhookPlace(params.tenantId)) }),
    async webhookGet(params) {
      const found = await store.webhookGet(params);
      if (found === null) return null;
      const place = webhookPlace(found.trigger.tenantId);
      return { ...found, secrets: found.secrets.map((secret) => opened(box, secret, place)) };
    },
    pipelineCreate: (pipeline) => store.pipelineCreate(sealedPipeline(box, pipeline)),
    pipelineReplace: (pipeline) => store.pipelineReplace(sealedPipeline(box, pipeline)),
    pipelineRename: ({ from, pipeline }) => store.pipelineRename({ from, pipeline: sealedPipeline(box, pipeline) }),
    async consumerPut(change) {
      const { tenantId, code, newSecret } = change;
      const sealed = newSecret === undefined ? undefined : box.sealText(newSecret, consumerPlace(tenantId, code));
      return openConsumer(box, await store.consumerPut({ ...change, newSecret: sealed }));
    },
    async consumerGet(params) {
      const row = await store.consumerGet(params);
      return row === null ? null : openConsumer(box, row);
    },
    consumerList: async (params) => (await store.consumerList(params)).map((row) => openConsumer(box, row)),
    secretGet: (params) => engineSecret(store, box, params.name),
    audited: (params) => store.audited({ ...params, work: (joined) => params.work(sealedStore(joined, box)) }),
  };
}

function sealedPipeline(box: Box, pipeline: NewPipeline): NewPipeline {
  const { tenantId, webhookSecret } = pipeline;
  if (webhookSecret === null) return pipeline;
  return { ...pipeline, webhookSecret: box.sealText(webhookSecret, webhookPlace(tenantId)) };
}

/** Seals rows of other keys, and unsealed rows, with the first key; returns their number. It runs beside normal work. */
export async function resealTexts(store: Store, box: Box): Promise<number> {
  for (let done = 0, after = ''; ; ) {
    const rows = await store.sealedTextsOfOtherKeys({ prefix: box.textPrefix, after, limit: REKEY_BATCH });
    const items = rows.map((before) => ({ before, secrets: resealed(box, before) }));
    await store.sealedTextReplace({ items });
    done += rows.length;
    if (rows.length < REKEY_BATCH) return done;
    after = rows.at(-1)!.id;
  }
}

function resealed(box: Box, { tenantId, code, secrets }: SealedTextRow): string[] {
  const place = code === null ? webhookPlace(tenantId) : consumerPlace(tenantId, code);
  return secrets.map((secret) => box.sealText(box.openText(secret, place), place));
}

/** A process without the key cannot verify senders, so it asks them to come back. */
function opened(box: Box, secret: string, place: string): string {
  try {
    return box.openText(secret, place);
  } catch (error) {
    if (error instanceof SealError) throw new PawlError('UNAVAILABLE', error.message);
    throw error;
  }
}

/** A consumer whose key is missing must not hold up the others: it stays sealed, and its lane reports it. */
function openConsumer(box: Box, row: ConsumerRow): ConsumerRow {
  if (row.secrets.length === 0) return row;
  const place = consumerPlace(row.tenantId, row.code);
  const open = (secret: string): string => {
    try {
      return box.openText(secret, place);
    } catch (error) {
      if (error instanceof SealError) return secret;
      throw error;
    }
  };
  return { ...row, secrets: row.secrets.map(open) };
}

/** A key in the same database would protect nothing, so without a key of yours these texts stay unsealed. */
async function engineSecret(store: Store, box: Box, name: string): Promise<Uint8Array> {
  const stored = Buffer.from(await store.secretGet({ name }));
  const text = stored.toString('latin1');
  const isSealed = isSealedText(text);
  const value = isSealed ? Buffer.from(box.openText(text, enginePlace(name)), 'base64') : stored;
  if (!box.hasOwnKey || (isSealed && text.startsWith(box.textPrefix))) return value;
  const sealed = Buffer.from(box.sealText(value.toString('base64'), enginePlace(name)), 'latin1');
  await store.engineSecretReplace({ name, before: stored, value: sealed });
  return value;
}
