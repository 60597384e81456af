// How the engine aborts an attempt. The part of an AbortSignal that the engine needs: every attempt has one and few are aborted,
// and an AbortController costs a microsecond. Actions get a real AbortSignal, created on first use.

/** The listeners that an AbortSignal takes. */
type Listener = (() => void) | { handleEvent(): void };

export interface StopSignal {
  readonly aborted: boolean;
  /** It is about to be aborted, so nothing new should begin. */
  readonly withheld?: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: Listener, options?: { readonly once: boolean }): void;
  removeEventListener(type: 'abort', listener: Listener): void;
}

export class Stop implements StopSignal {
  aborted = false;
  withheld = false;
  reason: unknown = undefined;
  #listeners: Listener[] | null = null;

  abort(reason?: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners ?? [];
    this.#listeners = null;
    for (const listener of listeners) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }

  /** Called at most once. */
  addEventListener(_type: 'abort', listener: Listener): void {
    if (this.#listeners === null) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    if (this.#listeners !== null) this.#listeners = this.#listeners.filter((each) => each !== listener);
  }
}
