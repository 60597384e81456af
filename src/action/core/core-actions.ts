// The actions of the connector `core`, and the connector itself.

import { z } from 'zod';
import type { Limits } from '../../core/expression/evaluation.ts';
import type { ActionDefinition } from '../action.ts';
import type { ConnectorDefinition } from '../connector.ts';
import { delay } from './delay.ts';
import { echo } from './echo.ts';
import { fail } from './fail.ts';
import { readArtifact } from './read-artifact.ts';
import { sometimesFails } from './sometimes-fails.ts';
import { transform } from './transform.ts';

/** `limits`: the limits of expressions. */
export const coreActions = (limits?: Limits): readonly ActionDefinition[] => [
  echo,
  fail,
  sometimesFails,
  transform(limits),
  delay,
  readArtifact,
];

export const coreConnector: ConnectorDefinition = {
  id: 'core',
  displayName: 'Core',
  description: 'Building blocks of workflows.',
  version: '1.0.0',
  documentationUrl: '/docs',
  config: z.strictObject({}),
};
