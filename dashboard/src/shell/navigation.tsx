// The way around: every part of the dashboard in the order in which people need them.

import { Link } from '@tanstack/react-router';
import {
  Activity,
  Blocks,
  CalendarClock,
  CircleAlert,
  FileText,
  Gauge,
  Hand,
  House,
  Mail,
  RefreshCcwDot,
  Settings,
  Workflow,
} from 'lucide-react';
import type { ComponentType } from 'react';

interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: ComponentType<{ className?: string }>;
}

export const PLACES: readonly (readonly [group: string, places: readonly Place[]])[] = [
  [
    'Watch',
    [
      { to: '/', label: 'Overview', icon: House },
      { to: '/executions', label: 'Executions', icon: Activity },
      { to: '/failures', label: 'Failures', icon: CircleAlert },
      { to: '/waits', label: 'Waits', icon: Hand },
    ],
  ],
  [
    'Build',
    [
      { to: '/workflows', label: 'Workflows', icon: Workflow },
      { to: '/triggers', label: 'Triggers', icon: CalendarClock },
      { to: '/templates', label: 'Templates', icon: FileText },
      { to: '/catalog', label: 'Catalog', icon: Blocks },
    ],
  ],
  [
    'Deliver',
    [
      { to: '/lifecycles', label: 'Lifecycles', icon: RefreshCcwDot },
      { to: '/messages', label: 'Messages', icon: Mail },
    ],
  ],
  [
    'Run',
    [
      { to: '/operations', label: 'Operations', icon: Gauge },
      { to: '/settings', label: 'Settings', icon: Settings },
    ],
  ],
];

export function Navigation({
  badges,
  onGo,
}: {
  readonly badges: Readonly<Record<string, number>>;
  readonly onGo?: () => void;
}) {
  return (
    <nav aria-label="Pages" className="flex flex-col gap-4 px-2.5 py-3">
      {PLACES.map(([group, places]) => (
        <div key={group}>
          <h2 className="px-2 pb-1 text-2xs font-semibold tracking-wide text-faint uppercase">{group}</h2>
          <ul className="flex flex-col gap-px">
            {places.map((place) => (
              <li key={place.to}>
                <PlaceLink place={place} badge={badges[place.to] ?? 0} onGo={onGo} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function PlaceLink({
  place: { to, label, icon: Icon },
  badge,
  onGo,
}: {
  readonly place: Place;
  readonly badge: number;
  readonly onGo: (() => void) | undefined;
}) {
  return (
    <Link
      to={to}
      onClick={onGo}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      className="flex h-8 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-hover hover:text-text data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent"
    >
      <Icon className="size-4 shrink-0" aria-hidden="true" />
      <span className="flex-1">{label}</span>
      {badge > 0 && (
        <span className="tabular rounded-full bg-bad-soft px-1.5 text-2xs font-semibold text-bad">
          {badge > 999 ? '999+' : badge}
        </span>
      )}
    </Link>
  );
}
