// Moves along the facts of the execution: everything on the page is what the engine believed at that fact. `[` and `]` step.

import { SkipBack, SkipForward, StepBack, StepForward } from 'lucide-react';
import { IconButton } from '../../component/button.tsx';
import { useShortcut } from '../../component/shortcut.ts';
import { Time } from '../../component/time.tsx';
import { factCount, timeAt } from '../../model/journal.ts';
import type { ExecutionView } from './execution-view.ts';

export function Scrubber({ view }: { readonly view: ExecutionView }) {
  const { journal, at, travel } = view;
  const count = factCount(journal);
  const shown = Math.min(at ?? count, count);
  const step = (by: number) => {
    const next = Math.max(0, Math.min(count, shown + by));
    travel(next === count ? undefined : next);
  };
  useShortcut('[', () => step(-1));
  useShortcut(']', () => step(1));
  return (
    <div className="flex items-center gap-1 border-t px-2 py-1.5" role="group" aria-label="Facts">
      <IconButton label="To the first fact" onClick={() => travel(0)}>
        <SkipBack className="size-3.5" aria-hidden="true" />
      </IconButton>
      <IconButton label="One fact back" onClick={() => step(-1)}>
        <StepBack className="size-3.5" aria-hidden="true" />
      </IconButton>
      <input
        type="range"
        min={0}
        max={count}
        value={shown}
        aria-label="Fact"
        aria-valuetext={`fact ${shown} of ${count}`}
        onChange={({ target }) => travel(Number(target.value) === count ? undefined : Number(target.value))}
        className="h-1 min-w-16 flex-1 cursor-pointer accent-accent-solid"
      />
      <IconButton label="One fact on" onClick={() => step(1)}>
        <StepForward className="size-3.5" aria-hidden="true" />
      </IconButton>
      <IconButton label="To the newest fact" onClick={() => travel(undefined)}>
        <SkipForward className="size-3.5" aria-hidden="true" />
      </IconButton>
      <span className="tabular text-right text-xs whitespace-nowrap text-muted sm:w-36">
        fact {shown} of {count}
        <span className="ml-2 text-faint max-sm:hidden">
          {at === undefined ? 'newest' : <Time at={timeAt(journal, shown)} as="clock" />}
        </span>
      </span>
    </div>
  );
}
