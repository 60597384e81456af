// The named limits of a token or key. A limited one reaches only the resources that are named here.

import { z } from 'zod';
import { CONTROL_CHARACTERS } from '../core/json/control-character.ts';
import { anyOfFields } from './choice.ts';

const NAME_OR_BEGINNING = new RegExp(`^[^*${CONTROL_CHARACTERS}]{0,200}\\*?$`);

const names = z
  .array(z.string().regex(NAME_OR_BEGINNING, 'must be a name, or the beginning of names followed by "*"').min(1))
  .min(1)
  .max(100)
  .optional();

export const limitsSchema = z
  .strictObject({ workflows: names, consumers: names, connections: names, taskQueues: names })
  .refine((limits) => Object.values(limits).some((list) => list !== undefined), 'must name something')
  .meta({
    id: 'Limits',
    ...anyOfFields(['workflows', 'consumers', 'connections', 'taskQueues']),
    description: 'Reaches only these: names, or beginnings of names followed by `*`.',
  });

export type Limits = z.infer<typeof limitsSchema>;
export type LimitKind = keyof Limits;

export const LIMIT_KINDS: readonly LimitKind[] = ['workflows', 'consumers', 'connections', 'taskQueues'];

export function isWithin(limits: Limits, kind: LimitKind, name: string): boolean {
  const matches = (named: string) => (named.endsWith('*') ? name.startsWith(named.slice(0, -1)) : name === named);
  return (limits[kind] ?? []).some(matches);
}
