// What an examination found: one check, whether it is well, and if not what to do about it.

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** The next step; only of what is not well. */
  readonly next?: string;
}

export const well = (check: string, detail: string): Finding => ({ check, ok: true, detail });

export const unwell = (check: string, detail: string, next: string): Finding => ({ check, ok: false, detail, next });
