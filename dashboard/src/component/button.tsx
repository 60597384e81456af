// Buttons and links that look like buttons. A button that cannot be used stays in place, and says why.

import { Link } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';

export type ButtonKind = 'plain' | 'primary' | 'danger' | 'quiet';

const KINDS: Readonly<Record<ButtonKind, string>> = {
  plain: 'border bg-panel hover:bg-hover text-text',
  primary: 'border border-transparent bg-accent-solid text-on-accent hover:brightness-110',
  danger: 'border border-transparent bg-bad-solid text-on-accent hover:brightness-110',
  quiet: 'border border-transparent text-muted hover:bg-hover hover:text-text',
};

const SHAPE =
  'inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md px-2.5 text-sm font-medium whitespace-nowrap select-none';

export function buttonClass(kind: ButtonKind = 'plain', small = false): string {
  return `${SHAPE} ${KINDS[kind]} ${small ? '!h-7 !px-2 !text-xs' : ''}`;
}

interface ButtonProps extends Omit<ComponentProps<'button'>, 'disabled'> {
  readonly kind?: ButtonKind;
  readonly small?: boolean;
  readonly icon?: ReactNode;
  /** Why it cannot be used now. A click then only shows the reason. */
  readonly reason?: string | null | undefined;
}

export function Button({
  kind = 'plain',
  small = false,
  icon,
  reason,
  children,
  className = '',
  ...rest
}: ButtonProps) {
  const isOff = reason !== undefined && reason !== null;
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={isOff || undefined}
      title={isOff ? reason : rest.title}
      onClick={isOff ? (event) => event.preventDefault() : rest.onClick}
      className={`${buttonClass(kind, small)} ${isOff ? 'cursor-not-allowed! opacity-55' : ''} ${className}`}
    >
      {icon}
      {children}
      {isOff && <span className="sr-only">, not available: {reason}</span>}
    </button>
  );
}

interface ButtonLinkProps extends ComponentProps<typeof Link> {
  readonly kind?: ButtonKind;
  readonly small?: boolean;
  readonly icon?: ReactNode;
  readonly children?: ReactNode;
}

export function ButtonLink({ kind = 'plain', small = false, icon, children, ...rest }: ButtonLinkProps) {
  return (
    <Link {...rest} className={buttonClass(kind, small)}>
      {icon}
      {children}
    </Link>
  );
}

interface IconButtonProps extends ComponentProps<'button'> {
  readonly label: string;
}

export function IconButton({ label, children, className = '', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={`inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-text ${className}`}
    >
      {children}
    </button>
  );
}
