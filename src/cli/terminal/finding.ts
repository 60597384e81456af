// The result of one check of `pawl doctor`: whether it passed and, if not, what to do.

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** The next step, if the check failed. */
  readonly next?: string;
}

export const well = (check: string, detail: string): Finding => ({ check, ok: true, detail });

export const unwell = (check: string, detail: string, next: string): Finding => ({ check, ok: false, detail, next });
