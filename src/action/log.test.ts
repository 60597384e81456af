import { expect, it } from 'vitest';
import { createLogCollector } from './log.ts';
import { Redactor } from './redact.ts';

it('the data of a log line stays JSON when a secret in it is a number or a key (S6)', () => {
  const { log, close } = createLogCollector({ now: () => 0, redactor: new Redactor(['123456']) });
  log.info('signed in', { pin: 123456, nested: { 'x-123456': ['123456'] } });
  const [line] = close();
  expect(JSON.parse(line!.data!)).toEqual({ pin: '[redacted]', nested: { 'x-[redacted]': ['[redacted]'] } });
});
