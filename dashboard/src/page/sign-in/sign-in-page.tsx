// The address of the sign-in: it asks by itself when a token is needed, and leads on when there is one.

import { useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from '../../component/button.tsx';
import { Page, Panel } from '../../component/page.tsx';
import { Empty } from '../../component/state.tsx';
import { useSession } from '../../data/session-query.ts';

export function SignInPage() {
  const session = useSession();
  const { to = '/' } = useSearch({ strict: false }) as { to?: string };
  const navigate = useNavigate();
  // Only a path of ours: an address elsewhere is never followed.
  const path = /^\/(?!\/)/.test(to) ? to : '/';
  return (
    <Page title="Sign in">
      <Panel>
        <Empty title={session === undefined ? 'Who are you?' : `You are ${session.subject} of ${session.tenantId}`}>
          <Button className="mt-2" onClick={() => void navigate({ to: path })}>
            Go on
          </Button>
        </Empty>
      </Panel>
    </Page>
  );
}
