// The board of projects that the graph examples and the official templates read, for the Monday stand-in.

import type { StandinBoard } from './monday-board.ts';

export function projectBoard(): StandinBoard {
  const item = (id: string, name: string, status: string) => ({
    id,
    name,
    groupId: null,
    values: { status },
    createdAt: '2025-01-01T00:00:00Z',
    creatorId: '1',
  });
  return {
    id: '100',
    columns: [
      { id: 'name', title: 'Name', type: 'name' },
      { id: 'status', title: 'Status', type: 'status', labels: { 1: 'In Progress', 2: 'Approved', 3: 'Done' } },
    ],
    items: [item('1', 'Apollo', 'In Progress'), item('2', 'Borealis', 'Approved'), item('3', 'Cosmos', 'In Progress')],
  };
}
