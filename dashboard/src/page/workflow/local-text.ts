// What is typed, kept on this machine until it is saved: a closed tab, a crash or a sign-in loses nothing. It remembers the text
// it began from, so that a save of somebody else in between is noticed.

import { useState } from 'react';
import { readPreference, writePreference } from '../../data/preference.ts';

interface Kept {
  readonly text: string;
  readonly base: string;
}

function keptOf(name: string): Kept | null {
  try {
    const kept = JSON.parse(readPreference(name) ?? 'null') as Partial<Kept> | null;
    return typeof kept?.text === 'string' && typeof kept.base === 'string' ? (kept as Kept) : null;
  } catch {
    return null;
  }
}

export function useLocalText(workflowId: string, base: string) {
  const name = `text.${workflowId}`;
  const [kept, setKept] = useState(() => keptOf(name));
  const text = kept?.text ?? base;
  const forget = () => {
    writePreference(name, null);
    setKept(null);
  };
  return {
    text,
    isChanged: text !== base,
    isConflict: kept !== null && kept.base !== base && kept.text !== base,
    /** What the typed text began from. */
    begunFrom: kept?.base ?? base,
    setText(next: string) {
      if (next === base) return forget();
      const now = { text: next, base: kept?.base ?? base };
      writePreference(name, JSON.stringify(now));
      setKept(now);
    },
    /** The other author's save is known now: this text goes on from there. */
    settle(next: string) {
      if (next === base) return forget();
      const now = { text: next, base };
      writePreference(name, JSON.stringify(now));
      setKept(now);
    },
    /** What is typed stays on the screen until the server's answer has come. */
    saved() {
      writePreference(name, null);
      setKept({ text, base: text });
    },
    drop: forget,
  };
}
