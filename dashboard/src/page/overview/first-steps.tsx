// For a new installation with the samples: five things to try, each a link. It goes away when it is told to.

import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { IconButton } from '../../component/button.tsx';
import { useExecutionList } from '../../data/executions.ts';
import { usePreference, writePreference } from '../../data/preference.ts';

const SAMPLES = ['hello-pawl', 'hello-approval', 'hello-failure'] as const;

/** The newest execution of a sample; undefined: there is none, or it is not known yet. */
function useSample(workflowId: (typeof SAMPLES)[number]): string | undefined {
  return useExecutionList({ workflowId }).data?.pages[0]?.data[0]?.executionId;
}

export function FirstSteps() {
  const isGone = usePreference('first-steps') === 'done';
  const [hello, approval, failure] = [useSample('hello-pawl'), useSample('hello-approval'), useSample('hello-failure')];
  if (isGone || hello === undefined) return null;
  const steps = [
    ['See the retry', 'An attempt failed and was tried again.', hello, '?tab=timeline&node=work'],
    ['Approve', 'One waits for a callback: continue it.', approval, ''],
    ['Fix and continue', 'One failed on a parameter: edit it and go on.', failure, ''],
    ['Travel in time', 'Move along the facts of an execution.', hello, ''],
  ] as const;
  return (
    <section aria-label="First steps" className="relative rounded-lg border border-accent/30 bg-accent-soft/50 p-4">
      <h2 className="font-semibold">Welcome to Pawl</h2>
      <p className="text-muted">These samples ran when the server started for the first time.</p>
      <ol className="mt-3 grid gap-2 md:grid-cols-3 xl:grid-cols-5">
        {steps.map(([title, about, id, search], index) => (
          <li key={title}>
            <Link
              to={id === undefined ? '/executions' : '/executions/$executionId'}
              params={id === undefined ? {} : { executionId: id }}
              search={Object.fromEntries(new URLSearchParams(search))}
              className="panel flex h-full flex-col p-3 hover:border-accent!"
            >
              <span className="font-medium">
                {index + 1}. {title}
              </span>
              <span className="text-xs text-muted">{about}</span>
            </Link>
          </li>
        ))}
        <li>
          <Link to="/workflows/new" className="panel flex h-full flex-col p-3 hover:border-accent!">
            <span className="font-medium">5. Make one</span>
            <span className="text-xs text-muted">From a template, or from a skeleton.</span>
          </Link>
        </li>
      </ol>
      <IconButton
        label="Hide the first steps"
        className="absolute! top-2 right-2"
        onClick={() => writePreference('first-steps', 'done')}
      >
        <X className="size-4" aria-hidden="true" />
      </IconButton>
    </section>
  );
}
