// Renders documents where their authors can do no harm: in a process that is stopped when it takes too much time or memory (S4),
// and that reaches no clock, file or network (S3). The port; the implementation is action/core/render-pool.ts.

import type { Json, JsonObject } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';

export interface DocumentToRender {
  /** Liquid. */
  readonly body: string;
  /** JSON Schema that the answers must match; null: none. */
  readonly answersSchema: JsonObject | null;
  readonly answers: JsonObject;
  readonly extras: JsonObject;
}

export interface DocumentRenderer {
  /**
   * Throws a PawlError: WFENG005 when the answers do not match, TEMPLATE_ERROR with places in the body, TEMPLATE_TIMEOUT,
   * OUTPUT_TOO_LARGE, or UNAVAILABLE when too many wait.
   */
  render(document: DocumentToRender, turn: Turn): Promise<string>;
  /** The problems of a body, or of a user's schema. */
  checkBody(body: string, turn: Turn): Promise<Problem[]>;
  checkSchema(schema: JsonObject, turn: Turn): Promise<Problem[]>;
  /** The problems of a value by a user's schema. Throws as `render` does. */
  checkValue(schema: JsonObject, value: Json, turn: Turn): Promise<Problem[]>;
  close(): Promise<void>;
}

/** Tenants take turns. */
export interface Turn {
  readonly tenantId: string;
  readonly signal?: AbortSignal | undefined;
}
