// Loans in their lifecycle, inside your own program: a submitted loan asks your identity check, whose answer approves or
// rejects it. The check may be asked twice about the same loan (a crash between its work and its answer), never not at all.
//
//   npx node examples/lifecycle/loans.ts
//
// Without DATABASE_URL it starts a PostgreSQL of its own in .pawl-example, so there is nothing to install first, and a
// `npm start` in another terminal, which has its own in .pawl, is not in the way.

import { createPawl } from '../../src/main.ts';
import definition from './loan.json' with { type: 'json' };
import policies from './loan-policies.json' with { type: 'json' };

const pawl = await createPawl({ database: { dataDir: '.pawl-example' } });
try {
  // The policy also starts a workflow: this one.
  const node = { id: 'note', actionType: 'core.echo', parameters: { loan: '{{ trigger.externalRef }}' } };
  await pawl.publish({ id: 'notify-underwriter', displayName: 'Notify', startNode: 'note', nodes: [node] });

  // Importing the same again changes nothing, so a program may do it whenever it starts.
  const { version } = await pawl.lifecycles.import({ definition, policies });
  console.log('version', version);

  // The consumer that the policy's route names. To return `Processed` is the second of its two acknowledgements.
  await pawl.lifecycles.onWork({ consumer: 'kyc' }, ({ payload }) => {
    const { applicant } = payload as { applicant: string };
    if (applicant !== 'Ada') return { stage: 'Processed', outcome: 'failed', message: `who is ${applicant}?` };
    return { stage: 'Processed' };
  });

  // A consumer of your application's own: it is told of every decision, until it has said that it knows.
  const decided = new Map<unknown, () => void>();
  const subscriptions = [{ env: 'prod', definition: 'loan', events: ['approve', 'reject'] }];
  await pawl.lifecycles.onWork({ consumer: 'application', subscriptions }, ({ externalRef }) => {
    decided.get(externalRef)?.();
    return { stage: 'Processed' };
  });

  const run = Date.now();
  for (const applicant of ['Ada', 'Mallory']) {
    const loan = { env: 'prod', definition: 'loan', externalRef: `loan-${applicant}-${run}` };
    const decision = new Promise<void>((resolve) => decided.set(loan.externalRef, resolve));
    // The requestId makes a trigger safe to repeat: the same request is applied once.
    const submit = { ...loan, event: 'submit', requestId: 'form', payload: { amount: 5_000, applicant } };
    const first = await pawl.lifecycles.trigger(submit);
    const second = await pawl.lifecycles.trigger(submit);
    console.log(first.applied, second.applied, second.notice);

    await decision;
    const { state } = await pawl.lifecycles.instance(loan);
    const moves = await pawl.lifecycles.timeline(loan);
    console.log(applicant, state, moves.map(({ event, toState }) => `${event} → ${toState}`).join(', '));
  }
} finally {
  await pawl.close();
}
