// Words zod's issues our way, where only the issue is known and not the value: requests, and parameters of actions.

import type { z } from 'zod';
import { describeChoice, describeRange, typeName } from './schema-check.ts';

/** Zod's own messages start like this; messages of our schemas are kept. */
const ZODS_OWN = /^(Invalid |Too (small|big):)/;
const RECEIVED = /received (\w+)$/;

/** Zod reports a missing value as one of the wrong type. */
export function issueMessage(issue: z.core.$ZodIssue): string {
  const { message } = issue;
  if (issue.code === 'invalid_type' && message.endsWith('received undefined')) return 'is required';
  if (!ZODS_OWN.test(message)) return message;
  switch (issue.code) {
    case 'invalid_type': {
      const received = RECEIVED.exec(message)?.[1];
      const isSaid = received === undefined || (issue.expected === 'int' && received === 'number');
      return `must be ${typeName(issue.expected)}${isSaid ? '' : `, not ${valueName(received)}`}`;
    }
    case 'invalid_value':
      return describeChoice(issue.values);
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options) ? describeChoice(issue.options) : message;
    case 'too_small':
    case 'too_big':
      return describeRange(issue);
    default:
      return message;
  }
}

const valueName = (type: string): string => (type === 'null' || type === 'NaN' ? type : typeName(type));
