// The short version of `npm run field`: two of its databases, with few executions.

import { expect, inject, it } from 'vitest';
import { fieldCheck } from './field-check.ts';
import { SETUPS } from './setups.ts';

const SHORT = ['PgBouncer, transaction mode, with directUrl', 'a role with rights on the tables alone'];

it.each(SETUPS.filter(({ name }) => SHORT.includes(name)))(
  'everything works on: $name',
  {
    timeout: 240_000,
  },
  async ({ missing, bringUp, name }) => {
    const reason = missing();
    if (reason !== null) return console.warn(`SKIPPED: the check on ${name}: ${reason}`);
    const { database, stop } = await bringUp(inject('adminUrl'));
    try {
      expect((await fieldCheck(database, { executions: 40 })).problems).toEqual([]);
    } finally {
      await stop();
    }
  },
);
