// A dialog over the page. It keeps typed text until it is closed on purpose.

import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children?: ReactNode;
  /** Buttons, the main one last. */
  readonly actions?: ReactNode;
  readonly wide?: boolean;
}

export function Dialog({ title, description, isOpen, onClose, children, actions, wide = false }: DialogProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-[rgb(10_12_18/0.45)]" />
        <Base.Popup
          className={`fixed inset-x-0 bottom-0 z-50 mx-auto flex max-h-[92dvh] w-full flex-col rounded-t-xl border bg-raised shadow-float outline-none sm:top-[8vh] sm:bottom-auto sm:max-h-[84vh] sm:rounded-xl ${
            wide ? 'sm:w-[min(56rem,94vw)]' : 'sm:w-[min(34rem,94vw)]'
          }`}
        >
          <header className="flex items-start justify-between gap-3 px-5 pt-4 pb-2">
            <div className="min-w-0">
              <Base.Title className="text-base font-semibold wrap-anywhere">{title}</Base.Title>
              {description !== undefined && (
                <Base.Description render={<div />} className="text-muted">
                  {description}
                </Base.Description>
              )}
            </div>
            <Base.Close render={<IconButton label="Close" className="-mr-2" />}>
              <X className="size-4" aria-hidden="true" />
            </Base.Close>
          </header>
          <div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-5 pb-4">{children}</div>
          {actions !== undefined && (
            <footer className="flex flex-wrap items-center justify-end gap-2 border-t px-5 py-3">{actions}</footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
