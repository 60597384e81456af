// The file of `pawl test`: tests of one workflow, with pinned outputs and expectations. Also compares results: an object may have
// more members than the test names; everything else must be equal.

import { z } from 'zod';
import type { Json } from '../core/json/json.ts';
import { isJsonObject } from '../core/json/json.ts';
import type { TestedNode, TestedWorkflow } from './transcript.ts';

const name = z.string().min(1);
const error = z.strictObject({ code: name, message: z.string().optional() });
const pin = z.union([
  z.strictObject({
    error,
    retryable: z.boolean().optional(),
    retryAfterMs: z.int().min(0).optional(),
    outputs: z.json().optional(),
  }),
  z.strictObject({ outputs: z.json() }),
]);
const pins = z.record(name, z.union([pin, z.array(pin).min(1)]));
const NODE_STATUSES = ['Pending', 'Succeeded', 'Failed', 'Skipped', 'Cancelled', 'TimedOut'] as const;
const nodeStatus = z.enum(NODE_STATUSES);
const END_STATUSES = ['Succeeded', 'Failed', 'Cancelled', 'TimedOut'] as const;

const expectation = z.strictObject({
  status: z.enum(END_STATUSES).optional(),
  outputs: z.json().optional(),
  error: error.partial().extend({ nodeId: name.optional() }).optional(),
  nodes: z
    .record(
      name,
      z.union([
        nodeStatus,
        z.strictObject({
          status: nodeStatus.optional(),
          attempts: z.int().min(0).optional(),
          parameters: z.json().optional(),
          outputs: z.json().optional(),
          error: error.partial().optional(),
          reason: z.string().optional(),
        }),
      ]),
    )
    .optional(),
});

export const testFile = z.strictObject({
  $schema: z.string().optional(),
  /** Relative to the test file; absent: the file of the same name without `.test`. */
  workflow: name.optional(),
  /** A folder with your own actions, relative to the test file. */
  actions: name.optional(),
  tests: z
    .array(
      z.strictObject({
        name,
        trigger: z.json().optional(),
        spec: z.json().optional(),
        principal: z
          .strictObject({ userId: name, displayName: z.string().optional(), email: z.string().nullable().optional() })
          .optional(),
        nodes: pins.optional(),
        stubs: pins.optional(),
        expect: expectation,
      }),
    )
    .min(1),
});

export type TestFile = z.output<typeof testFile>;
export type Expectation = z.output<typeof expectation>;

/** All mismatches, one per line. Empty: the test passes. */
export function mismatches(found: TestedWorkflow, expected: Expectation): string[] {
  const { nodes = {}, ...rest } = expected;
  // A test without a status expects success; otherwise an execution that failed half way would pass.
  const whole = compare({ status: 'Succeeded', ...rest } as Json, found as unknown as Json, '');
  return [...whole, ...Object.entries(nodes).flatMap(([id, node]) => nodeMismatches(id, node, found))];
}

function nodeMismatches(id: string, expected: string | object, { nodes }: TestedWorkflow): string[] {
  const found: TestedNode | undefined = Object.hasOwn(nodes, id) ? nodes[id] : undefined;
  if (found === undefined) return [`nodes.${id}: there is no such node: ${Object.keys(nodes).join(', ')}`];
  const wanted = typeof expected === 'string' ? { status: expected } : expected;
  const because = found.error === undefined ? found.reason : `${found.error.code}: ${found.error.message}`;
  const lines = compare(wanted as Json, found as unknown as Json, `nodes.${id}`);
  return because === undefined ? lines : lines.map((line) => `${line} (${because})`);
}

function compare(expected: Json, found: Json | undefined, path: string): string[] {
  if (isJsonObject(expected) && isJsonObject(found)) {
    return Object.entries(expected).flatMap(([key, value]) =>
      compare(value, Object.hasOwn(found, key) ? found[key] : undefined, path === '' ? key : `${path}.${key}`),
    );
  }
  if (Array.isArray(expected) && Array.isArray(found) && expected.length === found.length) {
    return expected.flatMap((value, index) => compare(value, found[index], `${path}[${index}]`));
  }
  return JSON.stringify(expected) === JSON.stringify(found)
    ? []
    : [`${path}: expected ${text(expected)}, got ${text(found)}`];
}

const EXCERPT = 300;

function text(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const whole = JSON.stringify(value);
  return whole.length <= EXCERPT ? whole : `${whole.slice(0, EXCERPT)}…`;
}
