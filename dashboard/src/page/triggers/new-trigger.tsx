// A new trigger. A secret that is made for it is shown once.

import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { SecretOnce } from '../../component/secret.tsx';
import { createTrigger } from '../../data/triggers.ts';
import { useWorkflowNames } from '../../data/workflows.ts';

const TYPES = ['Schedule', 'Webhook', 'Event', 'Manual'] as const;
type TriggerType = (typeof TYPES)[number];

const FIELDS: Readonly<Record<TriggerType, readonly (readonly [name: string, label: string, example: string])[]>> = {
  Schedule: [
    ['cron', 'Cron expression', '30 2 * * *'],
    ['timezone', 'Time zone', 'Europe/Berlin'],
  ],
  Webhook: [],
  Event: [['eventType', 'Type of the event', 'order.paid']],
  Manual: [],
};

export function NewTrigger({
  workflowId,
  onClose,
}: {
  readonly workflowId: string | undefined;
  readonly onClose: () => void;
}) {
  const names = useWorkflowNames();
  const command = useCommand(['triggers']);
  const [workflow, setWorkflow] = useState(workflowId ?? '');
  const [type, setType] = useState<TriggerType>('Schedule');
  const [config, setConfig] = useState<Record<string, string>>({});
  const [secret, setSecret] = useState<string | null>(null);
  const create = async () => {
    const given = Object.fromEntries(
      Object.entries(config).filter(([name, value]) => value !== '' && FIELDS[type].some(([each]) => each === name)),
    );
    const full = type === 'Webhook' ? { generateSecret: true } : given;
    const made = await command('The trigger', () =>
      createTrigger({ workflowId: workflow, triggerType: type, config: full }),
    );
    if (made?.secret !== undefined) setSecret(made.secret);
    else if (made !== undefined) onClose();
  };
  if (secret !== null) return <SecretOnce secret={secret} what="The webhook’s secret" onClose={onClose} />;
  return (
    <Dialog
      title="New trigger"
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" reason={workflow === '' ? 'Choose a workflow' : null} onClick={() => void create()}>
          Create
        </Button>
      }
    >
      <label className="flex flex-col gap-1">
        <span className="text-muted">Workflow</span>
        <select className="field" value={workflow} onChange={({ target }) => setWorkflow(target.value)}>
          <option value="">Choose …</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label className="flex flex-col gap-1">
        <span className="text-muted">Type</span>
        <select className="field" value={type} onChange={({ target }) => setType(target.value as TriggerType)}>
          {TYPES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      {FIELDS[type].map(([name, label, example]) => (
        <label key={name} className="flex flex-col gap-1">
          <span className="text-muted">{label}</span>
          <input
            className="field font-mono"
            placeholder={example}
            value={config[name] ?? ''}
            onChange={({ target }) => setConfig({ ...config, [name]: target.value })}
          />
        </label>
      ))}
    </Dialog>
  );
}
