// The short version of `npm run field`: some of its databases and fleets, with few executions.

import { expect, inject, it } from 'vitest';
import { fieldCheck } from './field-check.ts';
import { SETUPS } from './setups.ts';

const SHORT = [
  'PgBouncer, transaction mode, with directUrl',
  'a role with rights on the tables alone',
  'a primary that dies, and its standby that is promoted',
  'four runners, two of them replaced as in a rolling deployment',
];

it.each(SETUPS.filter(({ name }) => SHORT.includes(name)))(
  'the field check finds no problem on: $name',
  {
    timeout: 240_000,
  },
  async ({ missing, bringUp, name, fleet }) => {
    const reason = missing();
    if (reason !== null) return console.warn(`SKIPPED: the check on ${name}: ${reason}`);
    const { database, midway, stop } = await bringUp(inject('adminUrl'));
    try {
      expect((await fieldCheck(database, { executions: 40, midway, fleet })).problems).toEqual([]);
    } finally {
      await stop();
    }
  },
);
