// The id of an event: a uuid (version 8: made from a hash) that follows from where the event is and what it is called, so that
// it is the same in every version of the machine and on every installation.

import { canonicalJson } from '../../core/json/json.ts';
import { sha256Hex } from '../../core/plan/checksum.ts';

export function eventId(env: string, machine: string, event: string): string {
  const hex = sha256Hex(canonicalJson([env, machine, event]));
  const variant = '89ab'[Number.parseInt(hex.slice(16, 17), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
