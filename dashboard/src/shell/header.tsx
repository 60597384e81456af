// The header: search, whether news arrive, the time zone, the theme, and who is looking.

import { useQueryClient } from '@tanstack/react-query';
import { Menu as MenuIcon, Monitor, Moon, Search, Sun } from 'lucide-react';
import { IconButton } from '../component/button.tsx';
import { Menu } from '../component/menu.tsx';
import { useLive } from '../data/live.ts';
import { usePreference, writePreference } from '../data/preference.ts';
import { askToSignIn, signOut, switchIdentity, useSessionState } from '../data/session.ts';
import { useSession } from '../data/session-query.ts';
import { clipped } from '../model/text.ts';
import { THEMES, useTheme } from './theme.ts';

export function Header({ onMenu, onSearch }: { readonly onMenu: () => void; readonly onSearch: () => void }) {
  return (
    <header className="flex h-12 shrink-0 items-center gap-1.5 border-b bg-panel px-3 md:px-4">
      <IconButton label="Open the navigation" onClick={onMenu} className="md:hidden">
        <MenuIcon className="size-4" aria-hidden="true" />
      </IconButton>
      <button
        type="button"
        onClick={onSearch}
        className="flex h-8 min-w-0 items-center gap-2 rounded-md border bg-sunken px-2.5 text-muted hover:border-line-strong md:w-72"
      >
        <Search className="size-3.5 shrink-0" aria-hidden="true" />
        <span className="flex-1 truncate text-left max-sm:sr-only">Search or jump to…</span>
        <kbd className="key max-sm:hidden">Ctrl K</kbd>
      </button>
      <span className="flex-1" />
      <LiveDot />
      <ZoneMenu />
      <ThemeMenu />
      <WhoMenu />
    </header>
  );
}

const DOTS = {
  open: ['bg-ok-solid', 'Live'],
  polling: ['bg-warn-solid', 'Every 15 s'],
  opening: ['bg-warn-solid animate-breathe', 'Connecting'],
  broken: ['bg-bad-solid', 'No answer'],
  closed: ['bg-idle-solid', 'Not live'],
} as const;

function LiveDot() {
  const { state } = useLive();
  const [tone, word] = DOTS[state];
  return (
    <span className="flex items-center gap-1.5 px-1.5 text-xs text-muted" role="status" title={word}>
      <span className={`size-2 rounded-full ${tone}`} aria-hidden="true" />
      <span className="max-md:sr-only">{word}</span>
    </span>
  );
}

const ICON = { system: Monitor, light: Sun, dark: Moon } as const;

function ThemeMenu() {
  const theme = useTheme();
  const Icon = ICON[theme];
  return (
    <Menu
      trigger={
        <IconButton label={`Theme: ${theme}`}>
          <Icon className="size-4" aria-hidden="true" />
        </IconButton>
      }
      entries={THEMES.map((each) => ({
        label: each[0]!.toUpperCase() + each.slice(1),
        isChosen: each === theme,
        onSelect: () => writePreference('theme', each),
      }))}
    />
  );
}

const ZONES = ['local', 'UTC'];

function ZoneMenu() {
  const chosen = usePreference('zone') ?? 'local';
  const named = ZONES.includes(chosen) ? [] : [chosen];
  return (
    <Menu
      trigger={
        <button
          type="button"
          className="h-8 rounded-md px-2 text-xs text-muted hover:bg-hover hover:text-text max-sm:hidden"
          title="Time zone of all times"
        >
          {chosen === 'local' ? 'Local time' : chosen}
        </button>
      }
      entries={[...ZONES, ...named].map((zone) => ({
        label: zone === 'local' ? `Local (${Intl.DateTimeFormat().resolvedOptions().timeZone})` : zone,
        isChosen: zone === chosen,
        onSelect: () => writePreference('zone', zone),
      }))}
    />
  );
}

function WhoMenu() {
  const session = useSession();
  const { identities, current } = useSessionState();
  const client = useQueryClient();
  const tenant = clipped(session?.tenantId ?? '…', 20);
  const change = (act: () => void) => () => {
    act();
    void client.resetQueries();
  };
  return (
    <Menu
      trigger={
        <button
          type="button"
          className="flex h-8 items-center gap-2 rounded-md px-2 text-xs hover:bg-hover"
          aria-label={`Tenant ${tenant}`}
        >
          <span
            className="flex size-6 items-center justify-center rounded-full bg-accent-soft text-2xs font-semibold text-accent"
            aria-hidden="true"
          >
            {tenant.slice(0, 2).toUpperCase()}
          </span>
          <span className="max-md:hidden">{tenant}</span>
        </button>
      }
      entries={[
        ...identities.map(({ name }, index) => ({
          label: clipped(name, 60),
          isChosen: index === current,
          onSelect: change(() => switchIdentity(index)),
        })),
        { label: identities.length === 0 ? 'Sign in…' : 'Add another token…', onSelect: () => void askToSignIn() },
        {
          label: 'Sign out',
          reason: identities.length === 0 ? 'Nobody has signed in' : null,
          onSelect: change(signOut),
        },
      ]}
    />
  );
}
