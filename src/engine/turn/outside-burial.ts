// An execution of another engine that cannot go on: it ends as Failed at its epoch, and its cause is kept (I20).

import { DECIDER_VERSION } from '../../core/decider/decide.ts';
import type { Store } from '../../store/port.ts';
import type { EngineObserver, EngineOptions } from '../environment.ts';
import { deadLetter, nextStoredSeq } from './dead-letter.ts';

interface OutsideBurialDeps {
  readonly store: Store;
  readonly observer: EngineObserver;
  readonly options: EngineOptions;
  readonly newId: () => string;
  readonly mailSent: (executionId: string) => void;
}

export async function buryOutside(
  { store, observer, newId, options, mailSent }: OutsideBurialDeps,
  { executionId, epoch }: { executionId: string; epoch: number },
  error: { code: string; message: string },
): Promise<void> {
  const [execution] = await store.executionLoad({ executionIds: [executionId], deciderVersion: DECIDER_VERSION });
  if (execution === undefined) return;
  observer.warn('execution moved to the dead letters', { executionId, ...error });
  const at = await store.now();
  const letter = (seq: number | null) => {
    const { attempts: _attempts, ...rest } = deadLetter({ execution, error, crashes: 0, seq }, at, newId());
    return store.externalGiveUp({ ...rest, sent: rest.sent ?? [], epoch, keepLetter: options.deadLetters });
  };
  // The journal may have been written after all: then only the outcome records the end.
  const { applied } = await letter(nextStoredSeq(execution)).catch(() => letter(null));
  if (!applied) return;
  observer.ended?.({ execution, status: 'Failed', state: null, outcome: null });
  if (execution.parentId !== null) mailSent(execution.parentId);
}
