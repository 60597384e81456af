// Placeholders for data: nothing yet, nothing at all, or an error. An error never looks like "nothing".

import { CircleAlert, Inbox, RotateCw } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';

export function Empty({
  title,
  children,
  icon,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly icon?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-1.5 px-6 py-12 text-center">
      <span className="mb-1 text-faint" aria-hidden="true">
        {icon ?? <Inbox className="size-6" strokeWidth={1.5} />}
      </span>
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-md text-muted">{children}</div>}
    </div>
  );
}

interface ErrorLike {
  readonly message: string;
  readonly code?: string;
  readonly status?: number;
  readonly correlationId?: string;
}

/** Explains a refusal, with the id that the log knows, and offers a retry. */
export function Failure({
  error,
  what,
  onRetry,
}: {
  readonly error: Error;
  readonly what: string;
  readonly onRetry?: (() => void) | undefined;
}) {
  const { message, code, status, correlationId } = error as ErrorLike;
  return (
    <div
      role="alert"
      className="m-3 flex items-start gap-2.5 rounded-lg border border-bad-solid/40 bg-bad-soft p-3 text-bad"
    >
      <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{what}</p>
        <p className="wrap-anywhere">{message}</p>
        {(code ?? correlationId) !== undefined && (
          <p className="mt-1 font-mono text-2xs">
            {[status, code, correlationId].filter((each) => each !== undefined).join(' · ')}
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <Button small onClick={onRetry} icon={<RotateCw className="size-3.5" />}>
          Try again
        </Button>
      )}
    </div>
  );
}

const PATIENCE_MS = 200;

/** Shows nothing for a moment, because most answers come sooner. */
export function Skeleton({ rows = 5 }: { readonly rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return <div aria-hidden="true" className="h-24" />;
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2.5 p-4">
      {Array.from({ length: rows }, (_, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all the same
          key={index}
          className="h-4 animate-breathe rounded bg-sunken"
          style={{ width: `${92 - ((index * 17) % 40)}%` }}
        />
      ))}
    </div>
  );
}

interface Asked<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

/** The three states of an answer. An error above old data leaves the data in place. */
export function Answered<Data>({
  query,
  what,
  rows,
  children,
}: {
  readonly query: Asked<Data>;
  readonly what: string;
  readonly rows?: number;
  readonly children: (data: Data) => ReactNode;
}) {
  const failure = query.error !== null && (
    <Failure error={query.error} what={`Could not load ${what}`} onRetry={() => void query.refetch()} />
  );
  if (query.data === undefined) return failure || <Skeleton rows={rows ?? 5} />;
  return (
    <>
      {failure}
      {children(query.data)}
    </>
  );
}
