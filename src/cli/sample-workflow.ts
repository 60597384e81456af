// The samples of a first `pawl dev`: a workflow that retries, one that waits for an approval, one that fails until its input is
// corrected, and two loans in a lifecycle. Small enough to read.

export const SAMPLE_WORKFLOW = {
  id: 'hello-pawl',
  displayName: 'Hello, Pawl',
  description: 'Greets whoever the trigger names; an attempt may fail, and is tried again.',
  triggerSchema: { type: 'object', properties: { name: { type: 'string' } } },
  startNode: 'greet',
  nodes: [
    {
      id: 'greet',
      actionType: 'core.echo',
      parameters: { greeting: 'Hello, {{ trigger.name ?? "world" }}!' },
      edges: [{ targetNode: 'work' }],
    },
    {
      id: 'work',
      actionType: 'core.sometimes-fails',
      parameters: { failTimes: 1, done: true },
      policies: { retry: { maxAttempts: 5, baseDelayMs: 300 } },
      edges: [{ targetNode: 'finish', condition: 'context.data.work.done' }],
    },
    {
      id: 'finish',
      actionType: 'core.echo',
      parameters: { message: '{{ context.data.greet.greeting }} It worked.' },
    },
  ],
} as const;

export const SAMPLE_APPROVAL = {
  name: 'hello-approval',
  description: 'Waits for somebody to approve it: continue it on its page, or call its callback.',
  trigger: 'api',
  tasks: {
    approval: { wait_for_webhook: { timeout: '7d' } },
    rest: { needs: ['approval'], sleep: '1s' },
  },
} as const;

export const SAMPLE_FAILURE = {
  id: 'hello-failure',
  displayName: 'Hello, failure',
  description: 'Fails until `failTimes` is 0: choose "Fix and continue" and change it.',
  startNode: 'prepare',
  nodes: [
    {
      id: 'prepare',
      actionType: 'core.echo',
      parameters: { order: 'A-17' },
      edges: [{ targetNode: 'charge' }],
    },
    {
      id: 'charge',
      actionType: 'core.sometimes-fails',
      parameters: { failTimes: 99, charged: '{{ context.data.prepare.order }}' },
      policies: { retry: { maxAttempts: 2, baseDelayMs: 200 } },
      edges: [{ targetNode: 'receipt' }],
    },
    { id: 'receipt', actionType: 'core.echo', parameters: { sent: true } },
  ],
} as const;

export const SAMPLE_LIFECYCLE = {
  env: 'dev',
  name: 'loan',
  initial: 'draft',
  states: {
    draft: {},
    submitted: { timeout: { after: '48h', event: 'remind', mode: 'repeat', max: 3 } },
    approved: { final: true },
    rejected: { final: true },
  },
  events: { submit: {}, remind: {}, approve: {}, reject: {} },
  transitions: [
    { from: 'draft', on: 'submit', to: 'submitted' },
    { from: 'submitted', on: 'remind', to: 'submitted' },
    { from: 'submitted', on: 'approve', to: 'approved' },
    { from: 'submitted', on: 'reject', to: 'rejected' },
  ],
} as const;
