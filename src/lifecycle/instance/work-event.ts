// The messages of one move, byte for byte as every attempt sends them. They are made before the commit and written with it, so
// nothing about them is decided twice (I19).

import type { Json, JsonObject } from '../../core/json/json.ts';
import type { NewDelivery, NewMessageRow } from '../../store/delivery-port.ts';
import type { InstanceKey } from '../../store/lifecycle-port.ts';
import type { Decision, Emission, Instance, Transitioned, Trigger } from '../machine/decision.ts';
import { findEvent, type Machine } from '../machine/machine.ts';
import type { ConsumerDirectory } from './consumer-directory.ts';

export interface Moving {
  readonly key: InstanceKey;
  readonly machine: Machine;
  readonly version: number;
  readonly instance: Instance;
  readonly trigger: Trigger;
  readonly fact: Transitioned;
  readonly emissions: Decision['emissions'];
  readonly at: number;
}

export interface WorkEvents {
  readonly messages: NewMessageRow[];
  readonly deliveries: NewDelivery[];
  /** Codes of unregistered consumers of a hook. They are created before the message is written. */
  readonly missing: readonly string[];
  readonly bytes: number;
}

/** Each message of a move has its own place in the instance's order. */
const PLACES_PER_MOVE = 256;

export function workEvents(moving: Moving, directory: ConsumerDirectory, newId: () => string): WorkEvents {
  const messages: NewMessageRow[] = [];
  const deliveries: NewDelivery[] = [];
  const missing: string[] = [];
  let bytes = 0;
  for (const [ordinal, emission] of moving.emissions.entries()) {
    const consumers = consumersOf(moving, emission, directory, missing);
    if (consumers.length === 0) continue;
    const message = messageOf(moving, emission, { ordinal, ackGuid: newId(), consumers: consumers.length });
    bytes += message.body.length;
    messages.push(message);
    const { ackGuid, subjectId, seq } = message;
    for (const consumerId of consumers) deliveries.push({ ackGuid, consumerId, subjectId, seq });
  }
  return { messages, deliveries, missing, bytes };
}

function consumersOf(
  { key, fact }: Moving,
  emission: Emission,
  directory: ConsumerDirectory,
  missing: string[],
): readonly string[] {
  const { tenantId, env, definition } = key;
  switch (emission.kind) {
    case 'transition':
      return directory.subscribers(tenantId, { kind: 'transition', env, definition, event: fact.event });
    case 'workflow': {
      const id = directory.builtInId(tenantId, 'workflow');
      return id === null ? [] : [id];
    }
    case 'hook':
      return emission.consumers.flatMap((code) => {
        const id = directory.idOf(tenantId, code);
        if (id === null) missing.push(code);
        return id ?? [];
      });
  }
}

function messageOf(
  { key, machine, version, instance, trigger, fact, at }: Moving,
  emission: Emission,
  { ordinal, ackGuid, consumers }: { ordinal: number; ackGuid: string; consumers: number },
): NewMessageRow {
  const { tenantId, env, definition, externalRef } = key;
  const kind = emission.kind === 'transition' ? 'transition' : 'hook';
  const event = findEvent(machine, fact.event);
  const body: JsonObject = {
    ackGuid,
    kind,
    externalRef,
    env,
    definition,
    version,
    instanceId: instance.instanceId,
    occurredAt: new Date(at).toISOString(),
    event: {
      name: fact.event,
      ...(event === null ? {} : { id: event.id }),
      ...(event === null || event.code === null ? {} : { code: event.code }),
      from: fact.from,
      to: fact.to,
    },
    ...namesOf(emission),
    ...(trigger.actor === undefined ? {} : { actor: trigger.actor }),
    requestId: trigger.requestId,
    ...(trigger.payload === undefined ? {} : { payload: trigger.payload }),
  };
  return {
    ackGuid,
    tenantId,
    kind,
    subjectId: instance.instanceId,
    seq: fact.revision * PLACES_PER_MOVE + ordinal,
    env,
    source: definition,
    event: fact.event,
    body: JSON.stringify(body),
    onSucceeded: emission.kind === 'hook' ? emission.onSucceeded : null,
    onFailed: emission.kind === 'hook' ? emission.onFailed : null,
    consumers,
  };
}

function namesOf(emission: Emission): { readonly [key: string]: Json } {
  switch (emission.kind) {
    case 'transition':
      return {};
    case 'hook':
      return { hook: emission.hook, policy: emission.policy };
    case 'workflow':
      return { hook: `workflow:${emission.workflow}`, workflow: emission.workflow, policy: emission.policy };
  }
}
