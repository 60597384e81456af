// The workflow that a first `pawl dev` opens with: small enough to read, and it shows data, a condition and a retry.

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
