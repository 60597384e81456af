// What stands around every page: navigation, header, palette, banner, toasts, sign-in. On a narrow screen the navigation is a
// drawer.

import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { IconButton } from '../component/button.tsx';
import { useShortcut } from '../component/shortcut.ts';
import { ZoneContext } from '../component/time.tsx';
import { Toasts } from '../component/toast.tsx';
import { keepLive, useLive } from '../data/live.ts';
import { usePreference } from '../data/preference.ts';
import { isZone } from '../model/time.ts';
import { HealthBanner } from './banner.tsx';
import { Header } from './header.tsx';
import { Navigation } from './navigation.tsx';
import { SignInOverlay } from './sign-in.tsx';

// A first visit needs no dialogs.
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const KeyHelp = lazy(async () => ({ default: (await import('./key-help.tsx')).KeyHelp }));

export function Frame() {
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const [dialog, setDialog] = useState<'palette' | 'keys' | null>(null);
  const openPalette = useCallback(() => setDialog('palette'), []);
  const close = () => setDialog(null);
  useShortcut('?', () => setDialog('keys'));
  usePaletteKey(openPalette);
  useEffect(keepLive, []);
  const zone = usePreference('zone') ?? 'local';
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes whenever the page changes
  useEffect(() => setDrawerOpen(false), [path]);
  return (
    <ZoneContext value={isZone(zone) ? zone : 'local'}>
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-60 focus:bg-raised focus:p-2"
      >
        Skip to the page
      </a>
      <div className="flex h-dvh">
        <Sidebar isOpen={isDrawerOpen} onClose={() => setDrawerOpen(false)} />
        <div className="flex min-w-0 flex-1 flex-col">
          <Header onMenu={() => setDrawerOpen(true)} onSearch={openPalette} />
          <HealthBanner />
          <main id="main" tabIndex={-1} className="flex min-h-0 flex-1 flex-col outline-none">
            <Outlet />
          </main>
        </div>
      </div>
      <Suspense>
        {dialog === 'palette' && <Palette onClose={close} />}
        {dialog === 'keys' && <KeyHelp onClose={close} />}
      </Suspense>
      <Toasts />
      <SignInOverlay />
    </ZoneContext>
  );
}

function usePaletteKey(open: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      open();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [open]);
}

function Sidebar({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const { now } = useLive();
  const badges = now === null ? {} : { '/operations': now.deadLetters };
  return (
    <aside
      aria-label="Navigation"
      className={`${isOpen ? 'fixed inset-y-0 left-0 z-40 flex shadow-float' : 'hidden'} w-54 shrink-0 flex-col overflow-y-auto border-r bg-panel md:static md:flex md:shadow-none`}
    >
      <div className="flex h-12 shrink-0 items-center gap-2 px-4">
        <Link to="/" className="flex items-center gap-2 font-semibold tracking-tight" aria-label="Pawl, overview">
          <Logo />
          Pawl
        </Link>
        {isOpen && (
          <IconButton label="Close the navigation" onClick={onClose} className="ml-auto">
            <X className="size-4" aria-hidden="true" />
          </IconButton>
        )}
      </div>
      <Navigation badges={badges} onGo={onClose} />
    </aside>
  );
}

function Logo() {
  return (
    <svg viewBox="0 0 32 32" className="size-5.5" aria-hidden="true">
      <rect width="32" height="32" rx="8" className="fill-accent-solid" />
      <path d="M9 22V9h7.5a4.75 4.75 0 0 1 0 9.5H13" stroke="white" strokeWidth="3" fill="none" strokeLinecap="round" />
      <circle cx="23" cy="23" r="2.4" fill="white" />
    </svg>
  );
}
