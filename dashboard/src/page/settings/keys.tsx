// API keys: made and revoked here. A new key is shown once.

import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { Panel } from '../../component/page.tsx';
import { SecretOnce } from '../../component/secret.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Time } from '../../component/time.tsx';
import { createKey, revokeKey, useKeys } from '../../data/operations.ts';
import { useSession } from '../../data/session-query.ts';
import { clipped } from '../../model/text.ts';

export function Keys() {
  const session = useSession();
  const isAdmin = session?.scopes.includes('admin') === true;
  const keys = useKeys(isAdmin);
  const command = useCommand(['keys']);
  const [isNew, setNew] = useState(false);
  if (!isAdmin) return null;
  return (
    <Panel
      title="API keys"
      actions={
        <Button small onClick={() => setNew(true)}>
          New key…
        </Button>
      }
    >
      <Answered query={keys} what="the keys" rows={2}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="No API keys" />
          ) : (
            <ul className="divide-y">
              {list.map(({ id, name, scopes, createdAt, revokedAt }) => (
                <li key={id} className="flex flex-wrap items-center gap-3 px-4 py-2">
                  <span className="font-medium">{clipped(name, 80)}</span>
                  <span className="min-w-0 flex-1 truncate text-xs text-muted">{scopes.join(', ')}</span>
                  <span className="text-xs text-muted">
                    <Time at={createdAt} />
                  </span>
                  <Button
                    small
                    reason={revokedAt === undefined ? null : 'It is revoked'}
                    onClick={() => void command('Revoke', () => revokeKey(id))}
                  >
                    Revoke
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
      {isNew && <NewKey scopes={session.scopes} onClose={() => setNew(false)} />}
    </Panel>
  );
}

function NewKey({ scopes, onClose }: { readonly scopes: readonly string[]; readonly onClose: () => void }) {
  const command = useCommand(['keys']);
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>(['workflows:read']);
  const [key, setKey] = useState<string | null>(null);
  const make = async () => {
    const made = await command('The key', () => createKey({ name, scopes: chosen as never }));
    if (made !== undefined) setKey(made.key);
  };
  if (key !== null) return <SecretOnce secret={key} what="The API key" onClose={onClose} />;
  return (
    <Dialog
      title="New API key"
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          reason={name.trim() === '' ? 'Give it a name' : chosen.length === 0 ? 'Choose a scope' : null}
          onClick={() => void make()}
        >
          Make it
        </Button>
      }
    >
      <label className="flex flex-col gap-1">
        <span className="text-muted">Name</span>
        <input className="field" value={name} maxLength={100} onChange={({ target }) => setName(target.value)} />
      </label>
      <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
        <legend className="mb-1 text-muted">Scopes</legend>
        {scopes.map((scope) => (
          <label key={scope} className="flex items-center gap-1.5">
            <input
              type="checkbox"
              className="accent-accent-solid"
              checked={chosen.includes(scope)}
              onChange={({ target }) =>
                setChosen(target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
              }
            />
            {scope}
          </label>
        ))}
      </fieldset>
    </Dialog>
  );
}
