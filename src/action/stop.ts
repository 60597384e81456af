// How the engine tells an attempt to stop. The part of an AbortSignal that it needs, because every attempt has one and nearly
// none is told: an AbortController costs a microsecond. Actions get a real AbortSignal, made when they ask for it.

/** As an AbortSignal takes them. */
type Listener = (() => void) | { handleEvent(): void };

export interface StopSignal {
  readonly aborted: boolean;
  /** It is going to be aborted: what has not begun shall not begin. */
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

  /** It calls once at most, as there is one abort. */
  addEventListener(_type: 'abort', listener: Listener): void {
    if (this.#listeners === null) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    if (this.#listeners !== null) this.#listeners = this.#listeners.filter((each) => each !== listener);
  }
}
