// Which events of an execution are shown: by text, type, node and level.

interface Recorded {
  readonly type: string;
  readonly level: string;
  readonly nodeId?: string | undefined;
  readonly data?: unknown;
}

export interface EventFilter {
  readonly text?: string;
  readonly type?: string;
  readonly level?: string;
  readonly node?: string;
}

const WORSE: Readonly<Record<string, readonly string[]>> = {
  Warn: ['Warn', 'Error'],
  Error: ['Error'],
};

export function filterEvents<Event extends Recorded>(events: readonly Event[], filter: EventFilter): readonly Event[] {
  const { text = '', type = '', level = '', node = '' } = filter;
  if (text === '' && type === '' && level === '' && node === '') return events;
  const wanted = text.toLowerCase();
  const levels = WORSE[level];
  return events.filter(
    (event) =>
      (type === '' || event.type === type) &&
      (node === '' || event.nodeId === node) &&
      (levels === undefined || levels.includes(event.level)) &&
      (wanted === '' || textOf(event).includes(wanted)),
  );
}

const textOf = ({ type, nodeId = '', data }: Recorded): string =>
  `${type} ${nodeId} ${JSON.stringify(data) ?? ''}`.toLowerCase();

export const eventTypes = (events: readonly Recorded[]): string[] =>
  [...new Set(events.map(({ type }) => type))].toSorted();
