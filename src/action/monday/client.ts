// Monday's official client for one attempt, over the guarded HTTP client, so that it stops with the attempt and cannot reach
// private addresses (S5). It has no retries of its own. The package is loaded with the first call. Queries are fixed and
// variables carry every value, so a workflow's text never becomes part of a query.

import type { z } from 'zod';
import type { ActionContext } from '../action.ts';
import { guardedFetch } from '../guarded-fetch.ts';
import { passThroughHeaders } from '../pass-through.ts';
import { readAnswer, requireToken } from '../remote-failure.ts';
import { type FailedResponse, mondayError } from './error.ts';

export interface MondayOptions {
  /** Of the GraphQL API, e.g. `https://api.monday.com/v2` (the default). */
  readonly baseUrl?: string | undefined;
}

/** Sends one query or mutation; every failure is a TerminalError or a RetryableError. */
export type AskMonday = <Answer extends z.ZodType>(
  answer: Answer,
  query: string,
  variables: Readonly<Record<string, unknown>>,
) => Promise<z.output<Answer>>;

const ENDPOINT = 'https://api.monday.com/v2';
/** A page of 500 items with all their columns. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

export async function connectMonday({ baseUrl }: MondayOptions, context: ActionContext): Promise<AskMonday> {
  const token = requireToken(context, 'monday');
  const { ApiClient } = await import('@mondaydotcomorg/api');
  const headers = passThroughHeaders(context);
  const client = new ApiClient({
    token,
    endpoint: baseUrl ?? ENDPOINT,
    requestConfig: { fetch: guardedFetch(context.http, { headers, maxBytes: MAX_RESPONSE_BYTES }) },
  });
  return async (answer, query, variables) => {
    try {
      return readAnswer('Monday', answer, await client.request(query, { ...variables }));
    } catch (thrown) {
      context.signal.throwIfAborted();
      throw mondayError(responseIn(thrown), thrown);
    }
  };
}

/** Recognised by its shape: the package's own error class is not visible in every way of loading the package. */
export function responseIn(thrown: unknown): FailedResponse | null {
  const { response = null } = (thrown ?? {}) as { response?: FailedResponse | null };
  return typeof response?.status === 'number' ? response : null;
}
