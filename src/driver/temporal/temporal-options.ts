// The options of the Temporal driver.

export interface TemporalOptions {
  /** host:port */
  readonly address: string;
  /** `{environment}`, `{tenant}` and `{project}` are filled in. Without braces all runs share one namespace. */
  readonly namespaceTemplate: string;
  /** Exceptions from `retentionDays`, by environment. */
  readonly retentionDays: number;
  readonly retentionDaysByEnvironment: Readonly<Record<string, number>>;
  readonly tls: TemporalTls;
  /** The resolved value of its reference. */
  readonly apiKey?: string | undefined;
  /** Whether missing namespaces and search attributes are created on first use. */
  readonly autoSetup: boolean;
  readonly lostRun: 'close' | 'again';
  /** How long a worker may be silent before it counts as dead. */
  readonly heartbeatMs: number;
  /** For an attempt without its own timeout. */
  readonly longestAttemptMs: number;
  readonly maxEvents: number;
  /** Workflows that a worker keeps in memory between their tasks. */
  readonly maxCachedWorkflows: number;
}

export interface TemporalTls {
  /** Also true when one of the files is given. */
  readonly enabled: boolean;
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly serverName?: string | undefined;
}

/** The namespaces and search attributes that were created. */
export interface SetupReport {
  readonly namespace: string;
  readonly created: boolean;
  readonly retentionDays: number;
  readonly addedSearchAttributes: readonly string[];
}
