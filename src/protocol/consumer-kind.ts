// The kinds of consumers, and everything that depends on a kind. A new kind is a row here and a channel in src/delivery/channel;
// type errors then lead to every other place.

interface ConsumerKindRow {
  /** True for kinds that are built in and cannot be registered. */
  readonly isBuiltIn?: true;
  /** The schemes of its URL; absent: the kind has no URL. */
  readonly protocols?: readonly string[];
  /** The port that a URL without one means. */
  readonly port?: string;
  /** `signing`: a webhook secret. `password`: any text. Absent: the kind takes no secret. */
  readonly secret?: 'signing' | 'password';
  /** The operator must allow its server, and health counts it as an event bus. */
  readonly isBus?: true;
  /** It pulls its messages, so nothing is sent to it. */
  readonly isPulled?: true;
}

const ROWS = {
  process: {},
  webhook: { protocols: ['https:', 'http:'], secret: 'signing' },
  pull: { isPulled: true },
  nats: { protocols: ['nats:', 'tls:'], port: '4222', secret: 'password', isBus: true },
  workflow: { isBuiltIn: true },
  trigger: { isBuiltIn: true },
} as const satisfies Record<string, ConsumerKindRow>;

export type ConsumerKind = keyof typeof ROWS;

/** Kinds that a channel sends to. */
export type SentKind = {
  [Kind in ConsumerKind]: (typeof ROWS)[Kind] extends { isPulled: true } ? never : Kind;
}[ConsumerKind];

/** Kinds that people register. */
export type RegisteredKind = {
  [Kind in ConsumerKind]: (typeof ROWS)[Kind] extends { isBuiltIn: true } ? never : Kind;
}[ConsumerKind];

export const consumerKind = (kind: ConsumerKind): ConsumerKindRow => ROWS[kind];

const kindsWhere = (test: (row: ConsumerKindRow) => boolean): ConsumerKind[] =>
  (Object.keys(ROWS) as ConsumerKind[]).filter((kind) => test(ROWS[kind]));

export const REGISTERED_KINDS = kindsWhere(({ isBuiltIn }) => isBuiltIn !== true) as [
  RegisteredKind,
  ...RegisteredKind[],
];

export const BUS_KINDS = kindsWhere(({ isBus }) => isBus === true);

export function isRegisteredKind(kind: unknown): kind is RegisteredKind {
  return (REGISTERED_KINDS as readonly unknown[]).includes(kind);
}
