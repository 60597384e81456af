// A lifecycle's machine as nodes and edges for the picture, and what each state allows.

export interface MachineState {
  readonly name: string;
  readonly isInitial: boolean;
  readonly isFinal: boolean;
}

export interface MachineArrow {
  readonly from: string;
  readonly to: string;
  readonly events: readonly string[];
}

export interface MachineGraph {
  readonly states: readonly MachineState[];
  readonly arrows: readonly MachineArrow[];
}

type Fields = Readonly<Record<string, unknown>>;

export function machineGraph(definition: Fields): MachineGraph {
  const given = (definition.states ?? {}) as Readonly<Record<string, Fields | undefined>>;
  const states = Object.entries(given).map(([name, state]) => ({
    name,
    isInitial: name === definition.initial,
    isFinal: state?.final === true,
  }));
  const byPair = new Map<string, { from: string; to: string; events: string[] }>();
  for (const { from, to, on } of (definition.transitions ?? []) as readonly Fields[]) {
    const key = JSON.stringify([from, to]);
    const arrow = byPair.get(key) ?? { from: String(from), to: String(to), events: [] };
    arrow.events.push(String(on));
    byPair.set(key, arrow);
  }
  return { states, arrows: [...byPair.values()] };
}

/** Events that lead out of a state. */
export function eventsFrom({ arrows }: MachineGraph, state: string | undefined): string[] {
  return [...new Set(arrows.filter(({ from }) => from === state).flatMap(({ events }) => events))];
}
