// What the Temporal driver is told by the configuration.

export interface TemporalOptions {
  /** host:port */
  readonly address: string;
  /** `{environment}`, `{tenant}` and `{project}` are filled in; without braces all runs share one namespace. */
  readonly namespaceTemplate: string;
  /** By environment, where it differs from `retentionDays`. */
  readonly retentionDays: number;
  readonly retentionDaysByEnvironment: Readonly<Record<string, number>>;
  readonly tls: TemporalTls;
  /** The value, resolved from its reference. */
  readonly apiKey?: string | undefined;
  /** Whether missing namespaces and search attributes are made when they are first needed. */
  readonly autoSetup: boolean;
  readonly lostRun: 'close' | 'again';
  /** A worker that is silent for so long is taken for dead. */
  readonly heartbeatMs: number;
  /** Of an attempt without a timeout of its own. */
  readonly longestAttemptMs: number;
  readonly maxEvents: number;
  /** Workflows that a worker keeps in memory between their tasks. */
  readonly maxCachedWorkflows: number;
}

export interface TemporalTls {
  /** True also when one of the files is given. */
  readonly enabled: boolean;
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly serverName?: string | undefined;
}

/** What was made of a namespace and its search attributes. */
export interface SetupReport {
  readonly namespace: string;
  readonly created: boolean;
  readonly retentionDays: number;
  readonly addedSearchAttributes: readonly string[];
}
