// Asks the compile worker, a moment after the last key. The last answer stands until the next one comes.

import { useEffect, useRef, useState } from 'react';

export interface CompileRequest {
  readonly id: number;
  readonly text: string;
  /** Null: the types of actions are not checked. */
  readonly actions: readonly string[] | null;
}

export interface CompileProblem {
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly offset?: number;
}

export interface CompileAnswer {
  readonly id: number;
  readonly isOk: boolean;
  /** What the text says, where it is JSON. */
  readonly definition?: unknown;
  readonly problems: readonly CompileProblem[];
  readonly warnings: readonly CompileProblem[];
}

const PAUSE_MS = 300;

export function useCompiled(text: string, actions: readonly string[] | null): CompileAnswer | null {
  const worker = useRef<Worker | null>(null);
  const count = useRef(0);
  const [answer, setAnswer] = useState<CompileAnswer | null>(null);
  useEffect(() => {
    const made = new Worker(new URL('./compile-worker.ts', import.meta.url), { type: 'module' });
    made.onmessage = ({ data }: MessageEvent<CompileAnswer>) => {
      if (data.id === count.current) setAnswer(data);
    };
    worker.current = made;
    return () => made.terminate();
  }, []);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        count.current += 1;
        worker.current?.postMessage({ id: count.current, text, actions } satisfies CompileRequest);
      },
      count.current === 0 ? 0 : PAUSE_MS,
    );
    return () => clearTimeout(timer);
  }, [text, actions]);
  return answer;
}
