// The session. A token lives in session storage and is sent as a header: without a cookie there is nothing to forge. A request
// refused with 401 waits until somebody has signed in and is then sent again, so nothing typed is lost.

import { useSyncExternalStore } from 'react';

const KEY = 'pawl.tokens';

export interface Identity {
  readonly name: string;
  readonly token: string;
}

interface SessionState {
  readonly identities: readonly Identity[];
  readonly current: number;
  /** Somebody must sign in before requests go on. */
  readonly isAsked: boolean;
}

let state: SessionState = { ...stored(), isAsked: false };
let waiting: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;
const listeners = new Set<() => void>();

function stored(): Pick<SessionState, 'identities' | 'current'> {
  try {
    const { identities, current } = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Partial<SessionState>;
    if (Array.isArray(identities)) return { identities, current: Number(current) || 0 };
  } catch {
    // Not ours, or unreadable: as if nobody had signed in.
  }
  return { identities: [], current: 0 };
}

function change(next: Partial<SessionState>): void {
  state = { ...state, ...next };
  sessionStorage.setItem(KEY, JSON.stringify({ identities: state.identities, current: state.current }));
  for (const listener of listeners) listener();
}

export const currentToken = (): string | undefined => state.identities[state.current]?.token;

/** Resolves when somebody has signed in. */
export function askToSignIn(): Promise<void> {
  if (waiting === null) {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting = { promise, resolve };
    change({ isAsked: true });
  }
  return waiting.promise;
}

export function signedIn(identity: Identity): void {
  const others = state.identities.filter(({ name }) => name !== identity.name);
  change({ identities: [...others, identity], current: others.length, isAsked: false });
  waiting?.resolve();
  waiting = null;
}

export function switchIdentity(index: number): void {
  change({ current: index });
}

export function signOut(): void {
  change({ identities: state.identities.filter((_, index) => index !== state.current), current: 0 });
}

export function useSessionState(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}
