// The actions of the connector `lifecycle`, and the connector itself.

import { z } from 'zod';
import type { ActionDefinition } from '../action.ts';
import type { ConnectorDefinition } from '../connector.ts';
import { type TriggerLifecycle, triggerAction } from './trigger.ts';

export const lifecycleActions = (trigger: TriggerLifecycle): readonly ActionDefinition[] => [triggerAction(trigger)];

export const lifecycleConnector: ConnectorDefinition = {
  id: 'lifecycle',
  displayName: 'Lifecycles',
  description: 'Business objects in their states.',
  version: '1.0.0',
  documentationUrl: '/docs',
  config: z.strictObject({}),
};
