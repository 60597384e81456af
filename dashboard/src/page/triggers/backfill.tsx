// Makes good the slots of a schedule between two times.

import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { say } from '../../component/toast.tsx';
import { useRefusal } from '../../data/session-query.ts';
import { backfillTrigger, type Trigger } from '../../data/triggers.ts';
import { plural } from '../../model/text.ts';

/** What a field of kind datetime-local takes: local time without a zone. */
const localText = (at: number): string =>
  new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

export function Backfill({ trigger }: { readonly trigger: Trigger }) {
  const refused = useRefusal('triggers:manage');
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button reason={refused} onClick={() => setOpen(true)}>
        Backfill…
      </Button>
      {isOpen && <BackfillDialog trigger={trigger} onClose={() => setOpen(false)} />}
    </>
  );
}

const DAY_MS = 86_400_000;

function BackfillDialog({ trigger, onClose }: { readonly trigger: Trigger; readonly onClose: () => void }) {
  const command = useCommand(['trigger', trigger.id], ['triggers']);
  const [from, setFrom] = useState(() => localText(Date.now() - DAY_MS));
  const [until, setUntil] = useState(() => localText(Date.now()));
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    const range = { from: new Date(from).toISOString(), until: new Date(until).toISOString() };
    const answer = await command('Backfill', () => backfillTrigger(trigger.id, range));
    setBusy(false);
    if (answer === undefined) return;
    const { started, repeated } = answer;
    say(`${plural(started, 'execution')} started, ${repeated} had been started before`);
    onClose();
  };
  const wrong = from === '' || until === '' ? 'Give both times' : from >= until ? 'The first time comes first' : null;
  const fields = [
    ['From', from, setFrom],
    ['Until', until, setUntil],
  ] as const;
  return (
    <Dialog
      title="Backfill"
      description="Starts an execution for every slot between the two times. A slot that was started before is not started again."
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" reason={wrong ?? (isBusy ? 'Starting …' : null)} onClick={() => void run()}>
          Start them
        </Button>
      }
    >
      {trigger.missed?.reason !== undefined && <p className="text-muted">Last miss: {trigger.missed.reason}.</p>}
      {fields.map(([label, value, set]) => (
        <label key={label} className="flex flex-col gap-1">
          <span className="text-muted">{label}</span>
          <input type="datetime-local" className="field" value={value} onChange={({ target }) => set(target.value)} />
        </label>
      ))}
    </Dialog>
  );
}
