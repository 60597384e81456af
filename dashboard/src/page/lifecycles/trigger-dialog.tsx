// Triggers an event of an instance: what its state allows is offered, the rest says that it is not allowed.

import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { triggerInstance } from '../../data/lifecycles.ts';
import { useRefusal } from '../../data/session-query.ts';
import { eventsFrom, type MachineGraph } from '../../model/machine-graph.ts';

interface TriggerDialogProps {
  readonly env: string;
  readonly name: string;
  readonly graph: MachineGraph;
  /** Of a known instance. */
  readonly externalRef?: string;
  readonly state?: string;
  readonly onClose: () => void;
}

export function TriggerDialog({ env, name, graph, externalRef = '', state, onClose }: TriggerDialogProps) {
  const initial = graph.states.find(({ isInitial }) => isInitial)?.name;
  const allowed = eventsFrom(graph, state ?? initial);
  const all = [...new Set(graph.arrows.flatMap(({ events }) => events))];
  const command = useCommand(['lifecycle', env, name], ['instance', env, name]);
  const refused = useRefusal('lifecycles:trigger');
  const [ref, setRef] = useState(externalRef);
  const [event, setEvent] = useState(allowed[0] ?? all[0] ?? '');
  const [payload, setPayload] = useState('{}');
  const [requestId] = useState(() => crypto.randomUUID());
  const run = async () => {
    const request = { externalRef: ref, event, requestId };
    const done = await command('The event', async () =>
      triggerInstance(env, name, { ...request, payload: JSON.parse(payload) as unknown }),
    );
    if (done !== undefined) onClose();
  };
  const reason = refused ?? (ref === '' ? 'Name the instance' : event === '' ? 'There is no event' : null);
  return (
    <Dialog
      title="Trigger an event"
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" reason={reason} onClick={() => void run()}>
          Trigger
        </Button>
      }
    >
      <label className="flex flex-col gap-1">
        <span className="text-muted">Reference of the instance</span>
        <input
          className="field"
          value={ref}
          readOnly={externalRef !== ''}
          onChange={({ target }) => setRef(target.value)}
        />
      </label>
      <label className="flex flex-col gap-1">
        <span className="text-muted">Event</span>
        <select className="field" value={event} onChange={({ target }) => setEvent(target.value)}>
          {all.map((each) => (
            <option key={each} value={each}>
              {each}
              {allowed.includes(each) ? '' : ' (not allowed in this state)'}
            </option>
          ))}
        </select>
      </label>
      <label className="flex flex-col gap-1">
        <span className="text-muted">Payload, as JSON</span>
        <textarea
          className="field font-mono text-xs"
          rows={4}
          value={payload}
          onChange={({ target }) => setPayload(target.value)}
        />
      </label>
    </Dialog>
  );
}
