// The rights of a caller: scopes grant routes, roles grant signals.

export const SCOPES = [
  'workflows:execute',
  'workflows:read',
  'workflows:manage',
  'templates:read',
  'templates:manage',
  'triggers:manage',
  'connections:manage',
  'secrets:manage',
  'executions:signal',
  'lifecycles:trigger',
  'lifecycles:manage',
  'deliveries:ack',
  /** Takes attempts of task queues and reports their results. */
  'tasks:work',
  /** May name somebody else as the principal of an execution. */
  'principal:any',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

export const ROLES = ['Operator', 'Engineer', 'Admin', 'System'] as const;

export type Role = (typeof ROLES)[number];
