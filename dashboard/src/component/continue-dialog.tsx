// A payload for a node that waits, as JSON.

import { useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface ContinueDialogProps {
  readonly what: string;
  readonly onContinue: (payload: unknown) => Promise<boolean>;
  readonly onClose: () => void;
}

export function ContinueDialog({ what, onContinue, onClose }: ContinueDialogProps) {
  const [text, setText] = useState('{}');
  const payload = parsed(text);
  const run = async () => {
    if (payload !== null && (await onContinue(payload.value))) onClose();
  };
  return (
    <Dialog
      title={`Continue ${what}`}
      description="As if its callback had been called with this payload."
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" reason={payload === null ? 'The text is not JSON' : null} onClick={() => void run()}>
          Continue
        </Button>
      }
    >
      <label className="flex flex-col gap-1">
        <span className="text-muted">Payload, as JSON</span>
        <textarea
          className="field font-mono text-xs"
          rows={6}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
    </Dialog>
  );
}

function parsed(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}
