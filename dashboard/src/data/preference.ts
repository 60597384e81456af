// A person's choices on this machine: theme, time zone, tenant, saved views. Kept in local storage, with subscribers.

import { useSyncExternalStore } from 'react';

const PREFIX = 'pawl.';
const listeners = new Set<() => void>();
/** A value read from storage is parsed once, so that it stays the same object. */
const known = new Map<string, string | null>();

export function readPreference(name: string): string | null {
  if (!known.has(name)) {
    try {
      known.set(name, localStorage.getItem(PREFIX + name));
    } catch {
      known.set(name, null);
    }
  }
  return known.get(name) ?? null;
}

export function writePreference(name: string, value: string | null): void {
  known.set(name, value);
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    // Storage may be full or forbidden: the choice then lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

export function usePreference(name: string): string | null {
  return useSyncExternalStore(subscribe, () => readPreference(name));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
