// The items of a forEach or the rounds of a repeat: how far it is, and each of them to be opened. Failed ones come first.

import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { StatusIconOf } from '../../component/status.tsx';
import { itemsOf, type LoopItem, nodesOfItem } from '../../model/loop.ts';
import { statusLook } from '../../model/status.ts';
import { clipped, countText } from '../../model/text.ts';
import type { ExecutionView, GraphNodeJson } from './execution-view.ts';

const SHOWN = 60;
const ORDER = { Failed: 0, Running: 1, Succeeded: 2 } as const;

export function LoopItems({ node, view }: { readonly node: GraphNodeJson; readonly view: ExecutionView }) {
  const [isAll, setAll] = useState(false);
  const kind = view.journal.plan.nodes.find(({ id }) => id === node.id)?.step.kind;
  if (kind !== 'forEach' && kind !== 'repeat') return null;
  const items = itemsOf(view.journal, node.id, view.at);
  const total = node.items?.count ?? items.length;
  const of = (status: LoopItem['status']) => items.filter((item) => item.status === status).length;
  const sorted = items.toSorted((a, b) => ORDER[a.status] - ORDER[b.status] || a.item - b.item);
  const word = kind === 'repeat' ? 'Rounds' : 'Items';
  return (
    <section aria-label={word}>
      <h3 className="heading mb-1.5">{word}</h3>
      <div className="flex h-2 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
        <span className="bg-ok-solid" style={{ width: `${(100 * of('Succeeded')) / Math.max(1, total)}%` }} />
        <span className="bg-bad-solid" style={{ width: `${(100 * of('Failed')) / Math.max(1, total)}%` }} />
        <span className="bg-run-solid" style={{ width: `${(100 * of('Running')) / Math.max(1, total)}%` }} />
      </div>
      <p className="mt-1 text-xs text-muted">
        {countText(of('Succeeded'))} of {countText(total)} done, {countText(of('Failed'))} failed,{' '}
        {countText(of('Running'))} running
      </p>
      <ul className="mt-2 flex flex-wrap gap-1">
        {sorted.slice(0, isAll ? undefined : SHOWN).map((item) => (
          <Item key={item.item} item={item} node={node} view={view} />
        ))}
      </ul>
      {sorted.length > SHOWN && !isAll && (
        <Button small kind="quiet" onClick={() => setAll(true)}>
          All {countText(sorted.length)}
        </Button>
      )}
    </section>
  );
}

interface ItemProps {
  readonly item: LoopItem;
  readonly node: GraphNodeJson;
  readonly view: ExecutionView;
}

function Item({ item, node, view }: ItemProps) {
  const look = statusLook(item.status);
  const [first] = nodesOfItem(view.journal, node.id, item.item);
  const error = item.error === undefined ? '' : `, ${item.error.code}: ${clipped(item.error.message, 200)}`;
  return (
    <li>
      <button
        type="button"
        onClick={() => first !== undefined && view.select(first)}
        title={`${look.word}${error}`}
        className="tabular inline-flex h-7 items-center gap-1 rounded-md border px-1.5 text-xs hover:bg-hover"
      >
        <StatusIconOf look={look} className="size-3.5" />
        {item.item}
        <span className="sr-only">{`, ${look.word}${error}`}</span>
      </button>
    </li>
  );
}
