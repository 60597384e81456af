// `POST /wh/{token}`: the callback of a waiting node. The token in the address is the only credential.

import { z } from 'zod';
import type { Callback } from '../../core/decider/state.ts';
import { MAX_STEP_BODY_BYTES } from '../../core/definition/limits.ts';
import { ERROR_CODES } from '../../core/error/codes.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { Json } from '../../core/json/json.ts';
import type { RouteParts } from '../parts.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function callbackRoutes({ executions }: Pick<RouteParts, 'executions'>): RouteSpec[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/wh/:token',
      access: 'public',
      tag: 'Callbacks',
      summary:
        'Call back: 200 the first time and every time after, 404 for an unknown token, 410 when nobody waits any more',
      notFound: 'CALLBACK_NOT_FOUND',
      bodyKind: 'any',
      anyQuery: true,
      params: z.object({ token: z.string().regex(/^[\w.-]{1,500}$/) }),
      body: z.unknown(),
      responses: { 200: z.object({ received: z.literal(true) }) },
      refuseEarly(params) {
        if (executions.isCallbackToken((params as { token: string }).token)) return;
        throw new PawlError('CALLBACK_NOT_FOUND', ERROR_CODES.CALLBACK_NOT_FOUND.message);
      },
      async handle({ params: { token }, body, rawBody }) {
        const { payload, ...about } = callbackIn(rawBody, body as Json);
        const outcome = await executions.callBack(token, payload, about);
        if (outcome === 'accepted') return { status: 200, body: { received: true } };
        const code = outcome === 'gone' ? 'CALLBACK_GONE' : 'CALLBACK_NOT_FOUND';
        throw new PawlError(code, ERROR_CODES[code].message);
      },
    }),
  ];
}

/** A longer payload is cut at 256 KB, kept as text and marked. */
function callbackIn(rawBody: Buffer, body: Json): Callback {
  const isTooLong = rawBody.length > MAX_STEP_BODY_BYTES;
  return isTooLong ? { payload: cutText(rawBody), truncated: true } : { payload: body };
}

/** A character that the cut splits in half is dropped. */
function cutText(bytes: Buffer): string {
  return new TextDecoder().decode(bytes.subarray(0, MAX_STEP_BODY_BYTES), { stream: true });
}
