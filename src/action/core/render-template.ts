// core.template.render: renders a document from a template of the catalog and answers. The same answers give the same document,
// so it is safe to repeat.

import { z } from 'zod';
import { RetryableError, TerminalError } from '../../core/error/error.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { JsonObject } from '../../core/json/json.ts';
import { templateId, templateSetId } from '../../protocol/template.ts';
import { type ActionDefinition, defineAction } from '../action.ts';

export interface RenderedDocument {
  readonly body: string;
  readonly templateSetId: string;
  readonly templateId: string;
  readonly version: number;
  readonly displayName: string;
}

export interface DocumentActionsOptions {
  /** Throws a PawlError for problems of the template or the answers. */
  render(
    tenantId: string,
    ref: { readonly templateSetId: string; readonly templateId: string; readonly version?: number | undefined },
    input: { readonly answers: JsonObject; readonly extras?: JsonObject | undefined },
    signal: AbortSignal,
  ): Promise<RenderedDocument>;
}

const values = z.record(z.string(), z.json());

export function documentActions(documents: DocumentActionsOptions): ActionDefinition[] {
  return [
    defineAction({
      type: 'core.template.render',
      version: '1.0.0',
      connector: 'core',
      codes: ['TEMPLATE_ERROR', 'TEMPLATE_TIMEOUT', 'SCHEMA_INVALID', 'OUTPUT_TOO_LARGE'],
      category: 'Document',
      displayName: 'Render a document',
      description: 'Renders a document template with answers. Without a version: the newest that is enabled.',
      tags: ['document', 'template'],
      params: z.strictObject({
        templateSetId,
        templateId,
        version: z.int().min(1).optional(),
        answers: values,
        extras: values.optional(),
      }),
      outputs: z.object({
        body: z.string(),
        metadata: z.object({
          templateSetId: z.string(),
          templateId: z.string(),
          version: z.int(),
          displayName: z.string(),
        }),
      }),
      async run({ answers, extras, ...ref }, { tenantId, signal }) {
        try {
          const { body, ...metadata } = await documents.render(tenantId, ref, { answers, extras }, signal);
          return { outputs: { body, metadata } };
        } catch (thrown) {
          throw thrown instanceof PawlError ? attemptError(thrown) : thrown;
        }
      },
    }),
  ];
}

/** A busy machine may be free later; a wrong template or answer stays wrong. */
const RETRYABLE = new Set(['TEMPLATE_TIMEOUT', 'UNAVAILABLE']);

function attemptError({ code, message }: PawlError): Error {
  return RETRYABLE.has(code) ? new RetryableError(code, message) : new TerminalError(code, message);
}
