// The written form of a machine (states, events, transitions, timeouts) and of its policies (which messages go to whom, and
// when). Shape only: machine-check.ts and policy-reader.ts check what names refer to and whether the machine makes sense.

import { z } from 'zod';
import { MAX_ID_LENGTH } from '../../core/definition/limits.ts';

/** These names are part of URLs: `/lifecycles/{env}/{name}`. */
export const lifecycleName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/, {
  error: 'must be up to 200 letters, digits, ".", "_" or "-", beginning with a letter or digit',
});
export const consumerCode = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, {
  error: 'must be up to 100 letters, digits, ".", "_" or "-", beginning with a letter or digit',
});
const name = z.string().min(1).max(MAX_ID_LENGTH);
const description = z.string().max(10_000).optional();

/** The database stores an event's code as `integer`. */
const MAX_EVENT_CODE = 2_147_483_647;

const timeout = z.strictObject({
  after: z.string().meta({ description: 'How long the instance may stay: "30s", "5m", "48h", "2d".' }),
  event: name.meta({ description: 'What is then triggered; the state must have a transition for it.' }),
  mode: z.enum(['once', 'repeat']).optional().meta({
    description: 'repeat: again after each `interval` for as long as the state stays the same.',
    default: 'once',
  }),
  max: z.int().min(1).max(1_000_000).optional().meta({ description: 'Of repeat: how often at most. Default: no end.' }),
  interval: z.string().optional().meta({ description: 'Of repeat: the time between two. Default: `after`.' }),
});

const state = z.strictObject({
  description,
  final: z.boolean().optional().meta({ description: 'The end: nothing leads out of it.', default: false }),
  timeout: timeout.optional(),
});

const event = z.strictObject({
  description,
  code: z.int().min(0).max(MAX_EVENT_CODE).optional().meta({ description: 'A number to trigger it by.' }),
});

const transition = z.strictObject({
  from: name,
  on: name.meta({ description: 'The event.' }),
  to: name,
  reenter: z.boolean().optional().meta({
    description: 'Of a transition to the same state: the stay begins anew, and so does its timeout.',
    default: false,
  }),
});

export const machineSchema = z
  .strictObject({
    $schema: z.string().optional(),
    env: lifecycleName.meta({ description: 'The environment it belongs to, e.g. "prod".' }),
    name: lifecycleName,
    description,
    initial: name.meta({ description: 'The state that every instance starts in.' }),
    states: z.record(z.string(), state),
    events: z.record(z.string(), event),
    transitions: z.array(transition),
  })
  .meta({ title: 'Pawl lifecycle' });

const route = z.strictObject({
  hook: name.optional().meta({ description: 'Work for consumers, by the name they know it by.' }),
  consumers: z.array(consumerCode).min(1).optional().meta({ description: 'Of a hook: the codes of those it goes to.' }),
  onProcessed: z
    .strictObject({ succeeded: name.optional(), failed: name.optional() })
    .optional()
    .meta({ description: 'Of a hook: events to trigger when all consumers have succeeded, or when one has failed.' }),
  workflow: name.optional().meta({ description: 'Instead of a hook: the workflow to start.' }),
});

const policy = z.strictObject({
  name,
  description,
  on: z
    .strictObject({
      transition: z
        .strictObject({ event: name.optional(), from: name.optional(), to: name.optional() })
        .optional()
        .meta({ description: 'Every transition that matches all that is given.' }),
      state: name.optional().meta({ description: 'Every transition that enters this state.' }),
    })
    .meta({ description: 'Either `transition` or `state`.' }),
  when: z.string().min(1).optional().meta({ description: 'An expression over `payload`, `instance`, `transition`.' }),
  routes: z.array(route).min(1),
});

export const policiesSchema = z
  .strictObject({
    $schema: z.string().optional(),
    env: lifecycleName,
    definition: lifecycleName.meta({ description: 'The name of the machine they belong to.' }),
    policies: z.array(policy),
  })
  .meta({ title: 'Pawl lifecycle policies' });

/** Machine and policies in one file, as `POST /lifecycles` takes them. */
export const lifecycleSchema = z
  .strictObject({
    $schema: z.string().optional(),
    definition: machineSchema,
    policies: policiesSchema.optional(),
  })
  .meta({ title: 'Pawl lifecycle with its policies' });
