// A first definition of each format: small, valid, and showing what the format is for.

const text = (definition: object): string => `${JSON.stringify(definition, null, 2)}\n`;

export const SKELETONS = [
  {
    id: 'graph',
    title: 'Graph',
    about: 'Nodes that run actions, and edges with conditions between them. A draft first, then versions.',
    text: text({
      id: 'my-workflow',
      displayName: 'My workflow',
      triggerSchema: { type: 'object', properties: { name: { type: 'string', title: 'Name' } } },
      startNode: 'greet',
      nodes: [
        {
          id: 'greet',
          actionType: 'core.echo',
          parameters: { text: 'Hello, {{ trigger.name ?? "world" }}!' },
          edges: [{ targetNode: 'done', condition: 'context.data.greet.text != null' }],
        },
        { id: 'done', actionType: 'core.echo', parameters: { said: '{{ context.data.greet.text }}' } },
      ],
    }),
  },
  {
    id: 'pipeline',
    title: 'Pipeline',
    about: 'HTTP calls, sleeps and waits with needs between them. Live at once; every save is a version.',
    text: text({
      name: 'my-pipeline',
      trigger: 'api',
      tasks: {
        charge: { url: 'https://example.com/charge', method: 'POST', body: { order: '{{ trigger.body.order }}' } },
        approval: { needs: ['charge'], wait_for_webhook: { timeout: '2d' } },
        ship: { needs: ['approval'], url: 'https://example.com/ship', method: 'POST' },
      },
    }),
  },
  {
    id: 'plan',
    title: 'Execution plan',
    about: 'Steps with dependencies from a planner. It runs once, as it is.',
    text: text({
      metadata: { planId: 'my-plan', planVersion: '1', schemaVersion: 'v1' },
      steps: [{ stepId: 'greet', type: 'core.echo', inputs: { text: 'Hello' } }],
    }),
  },
] as const;
