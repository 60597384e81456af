// A lifecycle on a terminal: its states and transitions, an instance's state, and its timeline.

import { compileLifecycle } from '../../lifecycle/machine/compile.ts';
import { diagramEdges } from '../../lifecycle/machine/diagram/edge.ts';
import type { Machine, MachineState } from '../../lifecycle/machine/machine.ts';
import type { InstanceJson, LifecycleDetailJson, TimelineEntryJson } from '../../protocol/lifecycle.ts';
import { printable } from '../file/line-map.ts';
import { table } from './table.ts';
import { type Paint, paintOn } from './terminal.ts';

export function machineView(lifecycle: LifecycleDetailJson, instance: InstanceJson | null): string {
  const { env, name, version, newestVersion, definition, policies = null } = lifecycle;
  const paint = paintOn(process.stdout);
  const { machine } = compileLifecycle(definition, policies);
  if (machine === null) throw new Error(`this pawl cannot read the lifecycle ${env}/${name}; is the server newer?`);
  const newer = version === newestVersion ? '' : ` (the newest is ${newestVersion})`;
  const lines = [
    `${paint('bold', `${env}/${name}`)}, version ${version}${newer}`,
    ...(instance === null ? [] : [instanceLine(instance, paint)]),
    '',
    ...[...machine.states.values()].flatMap((state) => stateLines(machine, state, instance?.state, paint)),
  ];
  return `${lines.join('\n')}\n`;
}

function instanceLine({ externalRef, state, stateSince, timeoutAt, final }: InstanceJson, paint: Paint): string {
  const due = timeoutAt === undefined ? '' : `, timeout at ${timeoutAt}`;
  return `${printable(externalRef)} is in ${paint('cyan', printable(state))} since ${stateSince}${final ? ', for good' : due}`;
}

function stateLines(machine: Machine, state: MachineState, current: string | undefined, paint: Paint): string[] {
  const isCurrent = state.name === current;
  const mark = isCurrent ? paint('cyan', '▶') : ' ';
  const name = paint(isCurrent ? ['bold', 'cyan'] : 'bold', printable(state.name));
  const kind = state.isFinal ? ' (final)' : state.name === machine.initial ? ' (initial)' : '';
  const exits = diagramEdges(machine).filter(({ from }) => from === state.name);
  const labels = exits.flatMap(({ to, labels: events }) => events.map((event) => ({ event: printable(event), to })));
  const width = Math.max(0, ...labels.map(({ event }) => event.length));
  return [
    `${mark} ${name}${kind}`,
    ...labels.map(({ event, to }) => `    ${event.padEnd(width)}  → ${to === state.name ? 'stays' : printable(to)}`),
  ];
}

export function timelineView(entries: readonly TimelineEntryJson[]): string {
  const rows = entries.map(({ at, kind, event, from, to, activity, status, actor = '', cause, payload }) => [
    at,
    printable(kind === 'transition' ? `${from} → ${to}` : (activity ?? '')),
    printable(kind === 'transition' ? (event ?? '') : (status ?? '')),
    printable(actor),
    cause?.type ?? 'application',
    payload === undefined ? '' : printable(JSON.stringify(payload)),
  ]);
  return table(['AT', 'WHAT', 'EVENT', 'BY', 'CAUSE', 'PAYLOAD'], rows);
}
