// What makes a signal the same as one before: its type and its id together.

import type { SignalType } from './fact.ts';

export function signalKey({ signal, signalId }: { readonly signal: SignalType; readonly signalId: string }): string {
  return `${signal}:${signalId}`;
}
