// The content of a lifecycle file: a machine, policies, or both as `{ definition, policies }`. Their members tell them apart, as
// with workflow formats. Pointers of problems lead into the file as it is.

import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts';
import type { Problem } from '../../core/problem/problem.ts';
import { checkPolicies, compileLifecycle } from '../../lifecycle/machine/compile.ts';
import type { Machine } from '../../lifecycle/machine/machine.ts';

export type LifecycleFile =
  | {
      readonly format: 'lifecycle';
      readonly definition: Json;
      readonly policies: Json | null;
      readonly isBoth: boolean;
    }
  | { readonly format: 'policies'; readonly policies: JsonObject };

/** null: not a lifecycle. */
export function lifecycleFile(value: unknown): LifecycleFile | null {
  if (!isJsonObject(value)) return null;
  if (isJsonObject(value.definition)) {
    const { definition, policies = null } = value;
    return { format: 'lifecycle', definition, policies, isBoth: true };
  }
  if (Array.isArray(value.policies)) return { format: 'policies', policies: value };
  const isMachine =
    ['states', 'transitions'].some((key) => Object.hasOwn(value, key)) && !Object.hasOwn(value, 'nodes');
  return isMachine ? { format: 'lifecycle', definition: value, policies: null, isBoth: false } : null;
}

export interface LifecycleVerdict {
  readonly format: LifecycleFile['format'];
  readonly ok: boolean;
  readonly problems: readonly Problem[];
  /** E.g. "lifecycle `loan`, 4 states"; only for a valid file. */
  readonly what: string;
}

export function judgeLifecycle(file: LifecycleFile): LifecycleVerdict {
  const { format } = file;
  if (format === 'policies') {
    const problems = checkPolicies(file.policies);
    const what = `policies for the lifecycle \`${String(file.policies.definition)}\``;
    return { format, ok: problems.every(isWarning), problems, what };
  }
  const { machine, problems } = compileLifecycle(file.definition, file.policies);
  return { format, ok: machine !== null, problems: placed(problems, file.isBoth), what: describe(machine) };
}

/** The compiler's pointers lead into `{ definition, policies }`. */
function placed(problems: readonly Problem[], isBoth: boolean): Problem[] {
  return problems.map((problem) =>
    isBoth ? problem : { ...problem, path: problem.path.replace(/^\/definition/, '') },
  );
}

function describe(machine: Machine | null): string {
  if (machine === null) return '';
  const policies = machine.policies.length === 0 ? '' : `, ${count(machine.policies.length, 'policy', 'policies')}`;
  return `lifecycle \`${machine.name}\`, ${count(machine.states.size, 'state', 'states')}${policies}`;
}

const isWarning = ({ severity }: Problem): boolean => severity === 'warning';
const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`;
