// An action of your own. It may run again after a crash: pass `context.idempotencyKey` on to whatever it changes.

import { defineAction } from 'pawl';
import { z } from 'zod';

export const greet = defineAction({
  type: 'own.greet',
  version: '1.0.0',
  connector: 'own',
  category: 'Own',
  description: 'Greets somebody by name.',
  params: z.strictObject({ name: z.string().min(1) }),
  outputs: z.object({ text: z.string() }),
  run: ({ name }) => ({ outputs: { text: `Hello, ${name}!` } }),
});
