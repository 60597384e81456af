// The server of a command: `--url` or PAWL_URL, with the token or API key in PAWL_TOKEN. Otherwise the `pawl dev` of this folder,
// then the default address. Uses the SDK's client; every error message gives the next step.

import type { Command } from 'commander';
import { clientPreferences, resolveConfig } from '../config/config.ts';
import { createClient, everyItem, type PawlApiError, type PawlClient } from '../sdk/client.ts';
import { withoutConfiguration } from './configuration.ts';
import { serverOf } from './dev-address.ts';
import { UsageError } from './exit.ts';
import { readFolder } from './folder-reader.ts';

export interface ClientFlags {
  readonly url?: string;
  readonly json?: boolean;
}

/** Nothing answers, or something other than Pawl. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError';
}

/** `patience`: how often a repeatable request is retried while the server is away or busy. */
export function connect(flags: ClientFlags, { patience = 0 }: { patience?: number } = {}): PawlClient {
  const preferences = clientPreferences();
  const url = flags.url ?? preferences.url;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`"${url}" is not a URL such as http://127.0.0.1:7295 (--url or PAWL_URL)`);
  const { token } = preferences;
  const isNamed = flags.url !== undefined || preferences.isNamed;
  const fetching = isNamed ? fetchFrom(url) : fetchFromFolder(url);
  return createClient({ url, retries: patience, fetch: fetching, ...(token === undefined ? {} : { token }) });
}

/**
 * The folder's `pawl dev` may listen on another port. Without a server, the data that `pawl run` left in the folder can still
 * be read.
 */
function fetchFromFolder(fallback: string): typeof fetch {
  const { dataDir, url: database } = resolveConfig().database;
  let found: Promise<string> | null = null;
  return async (input, init) => {
    found ??= serverOf(dataDir).then((here) => here ?? fallback);
    const base = await found;
    const ask = (at: string) => fetchFrom(at)(String(input).replace(fallback, at), init);
    try {
      return await ask(base);
    } catch (error) {
      const isReading = (init?.method ?? 'GET') === 'GET' && error instanceof NoServerError;
      const opened = isReading && database === undefined ? await readFolder(dataDir) : null;
      if (opened === null) throw error;
      found = Promise.resolve(opened);
      return ask(opened);
    }
  };
}

/** Every answer of Pawl carries a correlation id, refusals too. */
const OURS = 'x-correlation-id';

function fetchFrom(base: string): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, init).catch((error: Error) => {
      throw init?.signal?.aborted === true ? error : new NoServerError(unreachable(base, error));
    });
    if (!answer.headers.has(OURS)) {
      throw new NoServerError(
        `what answers at ${base} is not Pawl (HTTP ${answer.status}). Is the address right? Name another with --url or PAWL_URL.`,
      );
    }
    return answer;
  };
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be looked up',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke, or it does not speak HTTP',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  ETIMEDOUT: 'it does not answer',
};

function unreachable(base: string, error: Error): string {
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  const reason = REASONS[cause?.code ?? ''] ?? cause?.message ?? error.message;
  return `no server answers at ${base} (${reason}). Start one with \`pawl dev\`, or name another with --url or PAWL_URL.`;
}

/** The server's refusal as a sentence. */
export function explainRefusal(error: PawlApiError): string {
  const advice =
    error.status === 401 || error.status === 403 ? ADVICE[error.status] : (WHERE_TO_LOOK[error.code] ?? '');
  return `${error.message} [${error.code}]${advice}${severalProblems(error)}`;
}

const ADVICE = {
  401: '. Set PAWL_TOKEN to a token or an API key (`pawl keys create` makes one)',
  403: '. The token in PAWL_TOKEN may not do this: it lacks a scope, a role or the tenant',
} as const;

const WHERE_TO_LOOK: Readonly<Record<string, string>> = {
  EXECUTION_NOT_FOUND: '. `pawl list` shows what this server has',
  WORKFLOW_NOT_FOUND: '. `pawl workflows` lists what there is',
  LIFECYCLE_NOT_FOUND: '. `pawl lifecycle list` shows what there is, `pawl lifecycle import FILE` adds to it',
  INSTANCE_NOT_FOUND: '. The first `pawl lifecycle trigger` makes one',
  DELIVERY_NOT_FOUND: '. `pawl lifecycle deliveries` lists them, `--stage Dead` those that are given up',
};

/** The message already contains the first one. */
function severalProblems({ details }: PawlApiError): string {
  if (!Array.isArray(details) || details.length < 2) return '';
  const problems = details as { path?: string; message?: string }[];
  return problems.map(({ path = '', message = '' }) => `\n  - ${path === '' ? '' : `${path}: `}${message}`).join('');
}

/** The options that all these commands share. */
export function clientCommand(program: Command, name: string, description: string): Command {
  return withoutConfiguration(program.command(name))
    .description(description)
    .option('--url <url>', 'the server (PAWL_URL, or http://127.0.0.1:7295)')
    .option('--json', 'print JSON');
}

/** Every item of a list, page by page. */
export async function allItems<Item>(page: Parameters<typeof everyItem<Item>>[0]): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of everyItem(page)) items.push(item);
  return items;
}
