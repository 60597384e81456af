// For which tenant the code that runs now asks the database: set once where a request comes in, known wherever it leads to. It decides
// whose turn it is when connections are scarce (I22), and, with `database.rowSecurity`, whose rows its statements can see. Statements
// name their tenant themselves all the same (S1).

import { AsyncLocalStorage } from 'node:async_hooks';

const scope = new AsyncLocalStorage<{ readonly tenantId: string; readonly isWalled: boolean }>();

/** Callers whose proof is being checked: they share one turn. */
export const STRANGERS = '(strangers)';

/** `isWalled`: nothing in it concerns another tenant. */
export const inTenant = <Result>(tenantId: string, work: () => Result, isWalled = false): Result =>
  scope.run({ tenantId, isWalled }, work);

/** Empty: the program itself, without a tenant. */
export const currentTenant = (): string => scope.getStore()?.tenantId ?? '';

/** Null: the rows of all tenants may be needed. */
export function walledTenant(): string | null {
  const { tenantId, isWalled } = scope.getStore() ?? { tenantId: '', isWalled: false };
  return isWalled ? tenantId : null;
}

/** For work that a request starts and does not wait for: the engine works for all tenants. */
export const asProgram = <Result>(work: () => Result): Result => scope.run({ tenantId: '', isWalled: false }, work);

/** For one statement that serves several tenants, such as a look for everybody who waits: no wall, and the turn of whoever began it. */
export const unwalled = <Result>(work: () => Result): Result => inTenant(currentTenant(), work);
