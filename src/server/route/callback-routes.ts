// `POST /wh/{token}`: the callback that a waiting node was promised. The token is the proof, so nobody is asked who they are.

import { z } from 'zod';
import { ERROR_CODES } from '../../core/error/codes.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { Json } from '../../core/json/json.ts';
import type { Executions } from '../../engine/executions.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function callbackRoutes({ executions }: { readonly executions: Executions }): RouteSpec[] {
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
      params: z.object({ token: z.string().regex(/^[\w.-]{1,500}$/) }),
      body: z.unknown(),
      responses: { 200: z.object({ received: z.literal(true) }) },
      async handle({ params: { token }, body }) {
        const outcome = await executions.callBack(token, body as Json);
        if (outcome === 'accepted') return { status: 200, body: { received: true } };
        const code = outcome === 'gone' ? 'CALLBACK_GONE' : 'CALLBACK_NOT_FOUND';
        throw new PawlError(code, ERROR_CODES[code].message);
      },
    }),
  ];
}
