// Reads policies, valid or not. Reports names that the machine does not have, duplicate names, conditions that do not parse, and
// routes without a target. Without a machine (a file of policies alone) names are not judged.

import { listIn, objectIn, textIn } from '../../core/definition/json-read.ts';
import { parseExpression } from '../../core/expression/parse.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Findings } from '../../core/problem/problem.ts';
import { entersState, type MachineTransition, type Policy, type PolicySelector, type Route } from './machine.ts';
import { type Known, type MachineDraft, resolveName } from './machine-reader.ts';

/** The names that a condition can use. */
const CONDITION_ROOTS = ['payload', 'instance', 'transition'] as const;

/** The number of a message within its transition must fit into one byte. */
const MAX_ROUTES = 250;

interface Names {
  readonly states: Known;
  readonly events: Known;
  readonly findings: Findings;
}

export function readPolicies(raw: JsonObject, at: string, machine: MachineDraft | null, findings: Findings): Policy[] {
  if (machine !== null) checkOwner(raw, at, machine, findings);
  const names: Names = {
    states: machine !== null && machine.states.size > 0 ? machine.states : null,
    events: machine?.events ?? null,
    findings,
  };
  const policies = listIn(raw.policies).map((value, index) =>
    readPolicy(objectIn(value), `${at}/policies/${index}`, names),
  );
  checkNames(policies, at, findings);
  const routes = policies.reduce((sum, policy) => sum + policy.routes.length, 0);
  if (routes > MAX_ROUTES) {
    const message = `there are ${routes} routes in all; the limit is ${MAX_ROUTES}`;
    findings.error('TOO_MANY_ROUTES', `${at}/policies`, message, 'let one hook go to several consumers');
  }
  if (machine !== null && !findings.hasErrors) warnOfIdle(policies, at, machine, findings);
  return policies;
}

function checkOwner(raw: JsonObject, at: string, machine: MachineDraft, findings: Findings): void {
  for (const [key, expected] of [
    ['env', machine.env],
    ['definition', machine.name],
  ] as const) {
    const given = textIn(raw[key]);
    if (given === null || expected === '' || given === expected) continue;
    const message = `these policies are for the ${key} \`${given.slice(0, 100)}\`, the machine's is \`${expected}\``;
    findings.error('OTHER_LIFECYCLE', `${at}/${key}`, message, `write "${expected}"`);
  }
}

function readPolicy(raw: JsonObject, at: string, names: Names): Policy {
  const condition = textIn(raw.when);
  return {
    name: textIn(raw.name) ?? '',
    on: readSelector(objectIn(raw.on), `${at}/on`, names),
    when: condition === null ? null : readCondition(condition, `${at}/when`, names.findings),
    routes: listIn(raw.routes).flatMap((value, index) => readRoute(objectIn(value), `${at}/routes/${index}`, names)),
  };
}

function readSelector(raw: JsonObject, at: string, { states, events, findings }: Names): PolicySelector {
  if ((raw.transition === undefined) === (raw.state === undefined)) {
    findings.error(
      'BAD_SELECTOR',
      at,
      'needs either `transition` or `state`',
      'e.g. { "transition": { "event": "submit" } }',
    );
  }
  if (raw.state !== undefined) {
    return { kind: 'state', state: resolveName('state', raw.state, `${at}/state`, states, findings) ?? '' };
  }
  const { event, from, to } = objectIn(raw.transition);
  return {
    kind: 'transition',
    event: resolveName('event', event, `${at}/transition/event`, events, findings),
    from: resolveName('state', from, `${at}/transition/from`, states, findings),
    to: resolveName('state', to, `${at}/transition/to`, states, findings),
  };
}

function readCondition(source: string, at: string, findings: Findings): Policy['when'] {
  const parsed = parseExpression(source, { roots: CONDITION_ROOTS, dialect: 'javascript' });
  if (parsed.ok) return { source, expr: parsed.expr };
  for (const problem of parsed.problems) findings.syntaxError('BAD_CONDITION', at, problem, !source.includes('\n'));
  return null;
}

function readRoute(raw: JsonObject, at: string, names: Names): Route[] {
  const { findings } = names;
  const hook = textIn(raw.hook);
  const workflow = textIn(raw.workflow);
  if (workflow !== null) {
    for (const key of ['hook', 'consumers', 'onProcessed']) {
      if (raw[key] === undefined) continue;
      const message = `\`${key}\` cannot stand beside \`workflow\`: a route starts a workflow, or sends a hook to consumers`;
      findings.error('ROUTE_CONFLICT', `${at}/${key}`, message, 'make it a route of its own');
    }
    return [{ kind: 'workflow', workflow }];
  }
  if (hook === null && raw.hook === undefined) {
    findings.error(
      'EMPTY_ROUTE',
      at,
      'a route needs a `hook` or a `workflow`',
      'e.g. { "hook": "check", "consumers": ["kyc"] }',
    );
  }
  return [readHook(hook ?? '', raw, at, names)];
}

function readHook(hook: string, raw: JsonObject, at: string, { events, findings }: Names): Route {
  if (raw.consumers === undefined && hook !== '') {
    const message = `the hook \`${hook}\` goes to nobody`;
    findings.error('NO_CONSUMERS', at, message, 'add "consumers": ["…"]');
  }
  const onProcessed = objectIn(raw.onProcessed);
  const event = (outcome: 'succeeded' | 'failed') =>
    resolveName('event', onProcessed[outcome], `${at}/onProcessed/${outcome}`, events, findings);
  return {
    kind: 'hook',
    hook,
    consumers: readConsumers(listIn(raw.consumers), `${at}/consumers`, findings),
    onSucceeded: event('succeeded'),
    onFailed: event('failed'),
  };
}

function readConsumers(raw: readonly Json[], at: string, findings: Findings): string[] {
  const codes = new Set<string>();
  for (const [index, value] of raw.entries()) {
    const code = textIn(value);
    if (code === null) continue;
    if (codes.has(code)) {
      findings.error('DUPLICATE_CONSUMER', `${at}/${index}`, `\`${code}\` is in the list already`, 'remove it');
    }
    codes.add(code);
  }
  return [...codes];
}

function checkNames(policies: readonly Policy[], at: string, findings: Findings): void {
  const taken = new Map<string, number>();
  for (const [index, { name }] of policies.entries()) {
    const first = taken.get(name);
    if (first === undefined) taken.set(name, index);
    else if (name !== '') {
      const message = `the name \`${name}\` is taken by ${at}/policies/${first}`;
      const suggestion = 'give each policy a name of its own';
      findings.error('DUPLICATE_POLICY', `${at}/policies/${index}/name`, message, suggestion);
    }
  }
}

function warnOfIdle(policies: readonly Policy[], at: string, machine: MachineDraft, findings: Findings): void {
  for (const [index, { name, on }] of policies.entries()) {
    if (machine.transitions.some((transition) => selects(on, transition))) continue;
    const message = `\`${name}\` never applies: no transition matches`;
    const suggestion = 'compare it with the transitions of the machine';
    findings.warning('IDLE_POLICY', `${at}/policies/${index}/on`, message, suggestion);
  }
}

export function selects(
  on: PolicySelector,
  transition: Pick<MachineTransition, 'event' | 'from' | 'to' | 'reenter'>,
): boolean {
  if (on.kind === 'state') return transition.to === on.state && entersState(transition);
  return (
    (on.event ?? transition.event) === transition.event &&
    (on.from ?? transition.from) === transition.from &&
    (on.to ?? transition.to) === transition.to
  );
}
