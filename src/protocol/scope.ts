// What a caller may be allowed to do: scopes (000 §12.1 and ours) open routes, roles (004 §2.3) open signals.

export const SCOPES = [
  'workflows:execute',
  'workflows:read',
  'workflows:manage',
  'templates:read',
  'templates:manage',
  'triggers:manage',
  'executions:signal',
  'lifecycles:trigger',
  'lifecycles:manage',
  'deliveries:ack',
  /** May name somebody else as the principal of an execution. */
  'principal:any',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

export const ROLES = ['Operator', 'Engineer', 'Admin', 'System'] as const;

export type Role = (typeof ROLES)[number];
