// Settings: who you are here, how times and colours look, quotas and tenants.

import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { Page, Pairs, Panel } from '../../component/page.tsx';
import { Answered } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { complain } from '../../component/toast.tsx';
import { useQuota, useTenants } from '../../data/operations.ts';
import { usePreference, writePreference } from '../../data/preference.ts';
import { signOut, useSessionState } from '../../data/session.ts';
import { useSession } from '../../data/session-query.ts';
import { clipped, countText } from '../../model/text.ts';
import { isZone } from '../../model/time.ts';
import { Keys } from './keys.tsx';

export function SettingsPage() {
  return (
    <Page title="Settings">
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <SessionPanel />
        <Preferences />
        <QuotaPanel />
      </div>
      <Keys />
      <Tenants />
    </Page>
  );
}

function SessionPanel() {
  const session = useSession();
  const { identities } = useSessionState();
  return (
    <Panel
      title="Session"
      actions={
        identities.length > 0 && (
          <Button small onClick={signOut}>
            Sign out
          </Button>
        )
      }
    >
      <div className="p-4">
        {session === undefined ? (
          <p className="text-muted">Not known.</p>
        ) : (
          <Pairs
            pairs={[
              ['Tenant', session.tenantId],
              ['You are', clipped(session.subject, 80)],
              ['Mode', session.mode === 'loose' ? 'loose: no token is needed on this machine' : 'strict'],
              ['Scopes', session.scopes.join(', ')],
              ['Roles', session.roles.join(', ')],
              ['Expires', session.expiresAt === undefined ? undefined : <Time key="e" at={session.expiresAt} />],
              ['Version', session.version],
            ]}
          />
        )}
      </div>
    </Panel>
  );
}

function Preferences() {
  const theme = usePreference('theme') ?? 'system';
  const zone = usePreference('zone') ?? 'local';
  const tenant = usePreference('tenant') ?? '';
  const [typed, setTyped] = useState(zone);
  const isLoose = useSession()?.mode === 'loose';
  return (
    <Panel title="Preferences of this browser">
      <div className="flex flex-col gap-3 p-4">
        <label className="flex flex-col gap-1">
          <span className="text-muted">Theme</span>
          <select className="field" value={theme} onChange={({ target }) => writePreference('theme', target.value)}>
            <option value="system">As the system</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <label className="flex flex-col gap-1">
          <span className="text-muted">Time zone: local, UTC, or a name such as Europe/Berlin</span>
          <input
            className="field"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            onBlur={() => (isZone(typed) ? writePreference('zone', typed) : complain('Not a time zone', typed))}
          />
        </label>
        {isLoose && (
          <label className="flex flex-col gap-1">
            <span className="text-muted">Tenant (loose mode only)</span>
            <input
              className="field"
              defaultValue={tenant}
              placeholder="default"
              onBlur={({ target }) => {
                writePreference('tenant', target.value.trim() || null);
                location.reload();
              }}
            />
          </label>
        )}
      </div>
    </Panel>
  );
}

function QuotaPanel() {
  const session = useSession();
  const quota = useQuota(session?.scopes.includes('admin') === true ? session.tenantId : undefined);
  if (quota.data === undefined) return null;
  const { limits = {}, used = {} } = quota.data as {
    limits?: Record<string, unknown>;
    used?: Record<string, unknown>;
  };
  const text = (name: string): string | undefined => {
    const [limit, count] = [limits[name], used[name]].map((value) =>
      typeof value === 'number' ? countText(value) : undefined,
    );
    if (limit === undefined) return count === undefined ? undefined : `${count}, no limit`;
    return count === undefined ? `at most ${limit}` : `${count} of ${limit}`;
  };
  const pairs = Object.entries(QUOTA_NAMES).map(([name, label]) => [label, text(name)] as const);
  const isFree = pairs.every(([, value]) => value === undefined);
  return (
    <Panel title="Quota">
      <div className="p-4">
        {isFree && <p className="text-muted">This tenant has no limits.</p>}
        <Pairs pairs={[...pairs, ['Schedules', limits.cron === false ? 'not allowed' : undefined]]} />
      </div>
    </Panel>
  );
}

const QUOTA_NAMES = {
  workflows: 'Workflows',
  tasksPerWorkflow: 'Tasks of a workflow',
  concurrentRuns: 'Executions at once',
  executionsPerMonth: 'HTTP steps this month',
  httpStepsAtOnce: 'HTTP steps at once',
} as const;

function Tenants() {
  const isAdmin = useSession()?.scopes.includes('admin') === true;
  const tenants = useTenants();
  if (!isAdmin) return null;
  return (
    <Answered query={tenants} what="the tenants">
      {(list) => (
        <Table label="Tenants" columns={['Tenant', 'Quota', 'Workflows', 'Live executions']}>
          {list.map((tenant) => (
            <Row key={tenant.tenantId}>
              <Cell isMain>{clipped(tenant.tenantId, 80)}</Cell>
              <Cell label="Quota">{tenant.preset ?? 'none'}</Cell>
              <Cell label="Workflows">{tenant.workflows}</Cell>
              <Cell label="Live">{tenant.concurrentRuns}</Cell>
            </Row>
          ))}
        </Table>
      )}
    </Answered>
  );
}
