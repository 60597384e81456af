// Short messages at the edge of the window: what was accepted or refused. Screen readers read them out.

import { Toast as Base } from '@base-ui/react/toast';
import { X } from 'lucide-react';

export const toasts = Base.createToastManager();

export function say(title: string, description?: string): void {
  toasts.add({ title, ...(description === undefined ? {} : { description }), type: 'info' });
}

export function complain(what: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  toasts.add({ title: what, description: message.slice(0, 400), type: 'error', priority: 'high', timeout: 12_000 });
}

export function Toasts() {
  return (
    <Base.Provider toastManager={toasts} limit={4}>
      <Base.Portal>
        <Base.Viewport className="fixed right-4 bottom-4 z-60 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2 outline-none">
          <ToastList />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

function ToastList() {
  const { toasts: list } = Base.useToastManager();
  return list.map((toast) => (
    <Base.Root
      key={toast.id}
      toast={toast}
      className={`flex items-start gap-2 rounded-lg border bg-raised px-3 py-2.5 shadow-float ${toast.type === 'error' ? 'border-bad-solid/50' : ''}`}
    >
      <div className="min-w-0 flex-1">
        <Base.Title className={`font-medium ${toast.type === 'error' ? 'text-bad' : ''}`} />
        <Base.Description className="text-muted wrap-anywhere" />
      </div>
      <Base.Close aria-label="Dismiss" className="rounded p-0.5 text-faint hover:text-text">
        <X className="size-3.5" aria-hidden="true" />
      </Base.Close>
    </Base.Root>
  ));
}
