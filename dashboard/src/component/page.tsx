// The frame of a page: its head with title and actions, panels, tabs, and pairs of name and value.

import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode, useEffect } from 'react';

interface PageProps {
  /** Also the title of the browser's tab. */
  readonly title: string;
  /** Shown instead of the title. */
  readonly head?: ReactNode;
  readonly detail?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** The page fills the window, and its parts scroll. */
  readonly fill?: boolean;
}

export function Page({ title, head, detail, actions, children, fill = false }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Pawl`;
  }, [title]);
  return (
    <div className={`flex min-w-0 flex-1 flex-col ${fill ? 'min-h-0 overflow-hidden' : 'overflow-y-auto'}`}>
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 pt-4 pb-3 md:px-6">
        <div className="flex min-w-0 flex-1 basis-60 flex-col gap-0.5">
          <h1 className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1 text-lg font-semibold tracking-tight wrap-anywhere">
            {head ?? title}
          </h1>
          {detail !== undefined && <div className="text-muted">{detail}</div>}
        </div>
        {actions !== undefined && <div className="flex max-w-full min-w-0 flex-wrap items-center gap-2">{actions}</div>}
      </header>
      <div className={`flex flex-1 flex-col gap-4 px-4 pb-6 md:px-6 ${fill ? 'min-h-0' : ''}`}>{children}</div>
    </div>
  );
}

interface PanelProps {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}

export function Panel({ title, actions, children, className = '' }: PanelProps) {
  return (
    <section className={`panel min-w-0 ${className}`} {...(typeof title === 'string' ? { 'aria-label': title } : {})}>
      {title !== undefined && (
        <header className="flex min-h-10 items-center justify-between gap-2 border-b px-4 py-1.5">
          <h2 className="heading">{title}</h2>
          {actions !== undefined && <div className="flex items-center gap-2">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

export interface Tab {
  readonly id: string;
  readonly label: ReactNode;
}

/** Tabs are addresses: each is a link that replaces `tab` in the search. */
export function TabLinks({
  tabs,
  current,
  label,
}: {
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly label: string;
}) {
  return (
    <nav aria-label={label} className="flex gap-1 overflow-x-auto border-b">
      {tabs.map(({ id, label: text }, index) => (
        <Link
          key={id}
          to="."
          replace
          search={(before: Record<string, unknown>) => ({ ...before, tab: index === 0 ? undefined : id })}
          aria-current={id === current ? 'page' : undefined}
          className={`-mb-px flex items-center gap-1.5 border-b-2 px-2.5 py-2 text-sm font-medium whitespace-nowrap ${
            id === current ? 'border-accent text-text' : 'border-transparent text-muted hover:text-text'
          }`}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}

/** Name and value; what has no value is left out. */
export function Pairs({
  pairs,
}: {
  readonly pairs: readonly (readonly [name: string, value: ReactNode | undefined])[];
}) {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] items-baseline gap-x-4 gap-y-1.5">
      {shown.map(([name, value]) => (
        <Fragment key={name}>
          <dt className="text-muted">{name}</dt>
          <dd className="wrap-anywhere">{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
