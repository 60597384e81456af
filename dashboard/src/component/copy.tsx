// Copies a text and says so.

import { Check, Copy } from 'lucide-react';
import { type ReactNode, useState } from 'react';

const SHOWN_MS = 1_500;

export function useCopy(): readonly [isCopied: boolean, copy: (text: string) => void] {
  const [isCopied, setCopied] = useState(false);
  const copy = (text: string) => {
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), SHOWN_MS);
    });
  };
  return [isCopied, copy];
}

export function CopyButton({
  text,
  label = 'Copy',
  children,
}: {
  readonly text: string;
  readonly label?: string;
  readonly children?: ReactNode;
}) {
  const [isCopied, copy] = useCopy();
  const Icon = isCopied ? Check : Copy;
  return (
    <button
      type="button"
      onClick={() => copy(text)}
      aria-label={isCopied ? 'Copied' : label}
      title={isCopied ? 'Copied' : label}
      className="inline-flex items-center gap-1 rounded px-1 py-0.5 text-faint hover:bg-hover hover:text-text"
    >
      {children}
      <Icon className="size-3.5" aria-hidden="true" />
    </button>
  );
}
