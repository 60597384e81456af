// Why an action cannot be taken now, in words; null: it can.

import { isEnded } from './status.ts';

export type ExecutionAction = 'retry' | 'cancel' | 'pause' | 'resume';

export function refusalOf(action: ExecutionAction, { status }: { readonly status: string }): string | null {
  const ended = isEnded(status);
  switch (action) {
    case 'retry':
      if (!ended) return 'It has not ended yet';
      return status === 'Succeeded' ? 'It succeeded: there is nothing to retry' : null;
    case 'cancel':
      return ended ? `It has ended (${status})` : null;
    case 'pause':
      if (ended) return `It has ended (${status})`;
      return status === 'Paused' ? 'It is paused already' : null;
    case 'resume':
      return status === 'Paused' ? null : 'It is not paused';
  }
}
