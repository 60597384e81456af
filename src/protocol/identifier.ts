// The patterns of ids. An id that does not match is not looked up (S9).

import { z } from 'zod';
import { CONTROL_CHARACTERS, ZERO_CHARACTER } from '../core/json/control-character.ts';

const NO_ZERO = new RegExp(`^[^${ZERO_CHARACTER}]*$`);
const NO_CONTROL = new RegExp(`^[^${CONTROL_CHARACTERS}]*$`);

/** Text without U+0000 and lone surrogates, which PostgreSQL refuses. Tools outside JavaScript can read the pattern. */
export const storedText = (maximum: number) =>
  z
    .string()
    .max(maximum)
    .regex(NO_ZERO, 'must not have U+0000')
    .refine((text) => text.isWellFormed(), 'must not have half a character');

/** Text for an index or a header: no control characters, limited length. */
export const label = (maximum: number) =>
  z
    .string()
    .min(1)
    .max(maximum)
    .regex(NO_CONTROL, 'must not have control characters')
    .refine((text) => text.isWellFormed(), 'must not have half a character');

const MAX_VERSION = 2_147_483_647;

/** A workflow version, within the database's range. */
export const versionNumber = (least: 0 | 1) => z.int().min(least).max(MAX_VERSION);

const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/;

export const isTenantId = (text: string): boolean => TENANT_ID.test(text);

/** The rule in words, for the header, the query and the body alike. */
export const TENANT_ID_RULE =
  'must be 1 to 100 letters, digits, ".", "_", "@" or "-", and begin with a letter or a digit';

export const tenantId = z.string().regex(TENANT_ID, TENANT_ID_RULE);

export const executionId = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'must be a lower-case uuid');

const EXECUTION_REF = /^(?:run_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/;

/** An execution as clients name it: its id, or `run_` and its digits, as pipelines show it. */
export const executionRef = z
  .string()
  .regex(EXECUTION_REF, 'must be a lower-case uuid, or `run_` and its digits')
  .transform((text) => EXECUTION_REF.exec(text)!.slice(1).join('-'));

/** An id of any format: plan ids may contain capitals and dots. */
export const workflowId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/, 'must be letters, digits, ".", "_" or "-"');

export const timestamp = z.iso.datetime({ offset: true, error: 'must be a time such as 2026-01-31T09:30:00Z' });
