// A board as workflows see it: columns by their titles, although the API knows them by id. An unknown title is answered with the
// existing ones.

import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import type { AskMonday } from './client.ts';

const column = z.object({
  id: z.string(),
  title: z.string(),
  type: z.string(),
  settings_str: z.string().nullable(),
});
export type Column = z.output<typeof column>;

const answer = z.object({ boards: z.array(z.object({ columns: z.array(column) })) });

export async function columnsOf(monday: AskMonday, boardId: string): Promise<readonly Column[]> {
  const query = `query ($boardIds: [ID!]) {
    boards(ids: $boardIds) { columns { id title type settings_str } }
  }`;
  const { boards } = await monday(answer, query, { boardIds: [boardId] });
  const [board] = boards;
  if (board === undefined) throw boardNotFound(boardId);
  return board.columns;
}

/** Monday answers an unknown or invisible board with an empty list. */
export function boardNotFound(boardId: string): TerminalError {
  return new TerminalError('RESOURCE_NOT_FOUND', `Monday has no board ${boardId}, or the token may not see it`);
}

export function columnByTitle(columns: readonly Column[], title: string, parameter: string): Column {
  const found =
    columns.find((candidate) => candidate.title === title) ??
    columns.find((candidate) => candidate.title.toLowerCase() === title.toLowerCase()) ??
    columns.find((candidate) => candidate.id === title) ??
    // The column with the item names, whatever the board calls it.
    (title.toLowerCase() === 'name' ? columns.find(({ type }) => type === 'name') : undefined);
  if (found !== undefined) return found;
  const titles = columns.map((candidate) => JSON.stringify(candidate.title)).join(', ');
  throw new TerminalError('PARAMETERS_INVALID', `${parameter}: the board has no column "${title}"; it has ${titles}`);
}

/** The labels of a status column, with their numbers for filters. */
export function statusLabels({ settings_str: settings }: Column): ReadonlyMap<string, number> {
  const labels: unknown = parsed(settings)?.labels;
  if (typeof labels !== 'object' || labels === null) return new Map();
  const entries = Object.entries(labels).filter(([index]) => /^\d+$/.test(index));
  return new Map(entries.map(([index, label]) => [String(label), Number(index)]));
}

function parsed(settings: string | null): { labels?: unknown } | null {
  try {
    return JSON.parse(settings ?? 'null') as { labels?: unknown } | null;
  } catch {
    return null;
  }
}
