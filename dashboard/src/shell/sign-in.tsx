// Sign-in, over whatever page is open: a token or an API key, checked before it is used. Nothing typed on the page is lost.

import { useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Button } from '../component/button.tsx';
import { checkToken } from '../data/client.ts';
import { signedIn, useSessionState } from '../data/session.ts';

export function SignInOverlay() {
  const { isAsked } = useSessionState();
  if (!isAsked) return null;
  return (
    <div
      role="dialog"
      aria-modal="true"
      aria-labelledby="sign-in-title"
      className="fixed inset-0 z-60 flex items-center justify-center bg-[rgb(10_12_18/0.5)] p-4 backdrop-blur-sm"
    >
      <div className="w-full max-w-md rounded-xl border bg-raised p-6 shadow-float">
        <SignInForm />
      </div>
    </div>
  );
}

export function SignInForm() {
  const client = useQueryClient();
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const name = await checkToken(token.trim());
      signedIn({ name, token: token.trim() });
      await client.invalidateQueries();
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      <div>
        <KeyRound className="mb-2 size-6 text-accent" aria-hidden="true" />
        <h2 id="sign-in-title" className="text-lg font-semibold">
          Sign in
        </h2>
        <p className="text-muted">
          This server asks who you are. The token stays in this tab and is sent to nobody else.
        </p>
      </div>
      <label className="flex flex-col gap-1">
        <span className="text-muted">Token or API key</span>
        <input
          type="password"
          className="field h-9"
          value={token}
          autoComplete="off"
          // biome-ignore lint/a11y/noAutofocus: the overlay is there for this field alone
          autoFocus
          onChange={({ target }) => setToken(target.value)}
        />
      </label>
      {problem !== null && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad wrap-anywhere">
          {problem}
        </p>
      )}
      <Button
        kind="primary"
        type="submit"
        reason={token.trim() === '' ? 'Paste a token' : isBusy ? 'Checking …' : null}
      >
        Sign in
      </Button>
      <p className="text-xs text-faint">
        An administrator makes keys with <code className="font-mono">pawl keys create</code>.
      </p>
    </form>
  );
}
