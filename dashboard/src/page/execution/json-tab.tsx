// The execution as the API tells it.

import { JsonTree } from '../../component/json-tree.tsx';
import type { ExecutionView } from './execution-view.ts';

export function JsonTab({ view: { execution } }: { readonly view: ExecutionView }) {
  return (
    <div className="p-4">
      <JsonTree value={execution} label="the execution" open={1} />
    </div>
  );
}
