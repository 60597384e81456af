// Above every page while the installation is not well, with the reason. A server that does not answer comes first: everything else that
// is shown may be old.

import { Link } from '@tanstack/react-router';
import { CircleAlert, WifiOff } from 'lucide-react';
import { useLive } from '../data/live.ts';

export function HealthBanner() {
  const { health, state } = useLive();
  if (state === 'broken') {
    return (
      <div role="status" className="flex items-center gap-2 border-b bg-sunken px-4 py-1.5 text-xs text-muted">
        <WifiOff className="size-3.5" aria-hidden="true" />
        The server does not answer; what is shown may be old. Trying again.
      </div>
    );
  }
  if (health !== null && health.status !== 'healthy') {
    const isBad = health.status === 'unhealthy';
    return (
      <div
        role="alert"
        className={`flex items-center gap-2.5 border-b px-4 py-2 ${isBad ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-warn'}`}
      >
        <CircleAlert className="size-4 shrink-0" aria-hidden="true" />
        <p className="min-w-0 flex-1">
          <b>{isBad ? 'Unhealthy' : 'Degraded'}</b>
          {health.reasons.length > 0 && `: ${health.reasons.join('; ')}`}
        </p>
        <Link to="/operations" className="font-medium underline">
          Operations
        </Link>
      </div>
    );
  }
  return null;
}
