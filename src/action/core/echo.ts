// core.echo: the outputs are the parameters. For tests, examples and for naming a value that several nodes read.

import { z } from 'zod';
import { defineAction } from '../action.ts';

export const echo = defineAction({
  type: 'core.echo',
  version: '1.0.0',
  connector: 'core',
  codes: [],
  category: 'Data',
  displayName: 'Echo',
  description: 'Returns its parameters as its outputs.',
  params: z.looseObject({}),
  outputs: z.looseObject({}),
  run: (params) => ({ outputs: params }),
});
