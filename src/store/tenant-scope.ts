// For which tenant the code that runs now asks the database: set once where a request comes in, known wherever it leads to. It decides
// whose turn it is when connections are scarce (I22), and nothing else: statements name their tenant themselves (S1).

import { AsyncLocalStorage } from 'node:async_hooks';

const scope = new AsyncLocalStorage<string>();

/** Callers whose proof is being checked: they share one turn. */
export const STRANGERS = '(strangers)';

export const inTenant = <Result>(tenantId: string, work: () => Result): Result => scope.run(tenantId, work);

/** Empty: nobody in particular, the program itself. */
export const currentTenant = (): string => scope.getStore() ?? '';
