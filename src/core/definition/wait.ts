// Reads a wait of a graph (`nodeType: "wait"`) or of a pipeline (`wait_for`).

import type { Json, JsonObject } from '../json/json.ts';
import type { Findings } from '../problem/problem.ts';
import type { DraftWait } from './draft.ts';
import { choiceIn, flagIn, listIn, numberIn, objectIn, textIn } from './json-read.ts';

interface RawWait {
  readonly callback: Json | undefined;
  readonly events: Json | undefined;
  readonly timeoutMs: number | null;
  readonly onTimeout: Json | undefined;
  readonly count: Json | undefined;
  readonly until: Json | undefined;
}

export function readWait(raw: RawWait, at: string, findings: Findings): DraftWait {
  const callback = flagIn(raw.callback, false);
  const events = listIn(raw.events).map((value, index) =>
    readEvent(objectIn(value), `${at}/events/${index}`, findings),
  );
  if (!callback && events.length === 0 && raw.timeoutMs === null) {
    const message = 'a wait needs something to wait for';
    findings.error('NOTHING_AWAITED', at, message, 'add a callback, `events` or a timeout');
  }
  const until = textIn(raw.until);
  return {
    kind: 'wait',
    callback,
    events,
    timeoutMs: raw.timeoutMs,
    onTimeout: choiceIn(raw.onTimeout, ['fail', 'continue'], 'fail'),
    count: numberIn(raw.count, 1),
    until: until === null ? null : { value: until, at: `${at}/until` },
  };
}

function readEvent(raw: JsonObject, at: string, findings: Findings): DraftWait['events'][number] {
  const path = textIn(raw.at);
  if ((raw.key === undefined) !== (path === null)) {
    const missing = path === null ? 'at' : 'key';
    const message = '`key` is the value, `at` where an event has it: one needs the other';
    findings.error('REQUIRED', `${at}/${missing}`, message, `add \`${missing}\``);
  }
  const key = raw.key === undefined || path === null ? null : { value: raw.key, at: `${at}/key` };
  return { type: textIn(raw.type) ?? '', at: path, key };
}
