// A new secret. It is shown once: closing this forgets it.

import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';

export function SecretOnce({
  secret,
  what,
  onClose,
}: {
  readonly secret: string | null;
  readonly what: string;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title={`${what}: copy it now`}
      description="It is shown this once and never again."
      isOpen={secret !== null}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          I have it
        </Button>
      }
    >
      <div className="flex items-center gap-2 rounded-md border bg-sunken px-3 py-2">
        <code className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{secret}</code>
        <CopyButton text={secret ?? ''} label="Copy the secret" />
      </div>
    </Dialog>
  );
}
