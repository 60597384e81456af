// Templates of tasks: a template that cannot be resolved fails the task with `template_error`, and the error names the
// expression.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { useApi } from '../workflow/api.ts';
import { getRun, runOnce, statuses } from './run.ts';
import { useShop } from './shop.ts';

const api = useApi();
const shop = useShop();

const call = (path: string, rest: JsonObject = {}): JsonObject => ({ url: `${shop().url}${path}`, ...rest });

describe('templates in the tasks of a run', () => {
  it('a template that cannot be resolved fails its task, and the error names the template', async () => {
    const run = await runOnce(api(), 'unresolved', {
      charge: call('/empty'),
      receipt: call('/never', { needs: ['charge'], body: { id: '{{tasks.charge.body.order_id}}' } }),
      after: call('/never', { needs: ['receipt'] }),
    });
    expect(statuses(run)).toEqual({ charge: 'success', receipt: 'template_error', after: 'skipped' });
    expect(run.tasks.receipt!.error_message).toBe('Failed to resolve {{tasks.charge.body.order_id}}');
    expect(run.status).toBe('completed');
  });

  it('a template that is null for a URL or a header fails its task', async () => {
    shop().answer('/nothing', 200, { at: null, trace: null, count: 3 });
    const run = await runOnce(api(), 'null-for-text', {
      ask: call('/nothing'),
      url: { needs: ['ask'], url: '{{tasks.ask.body.at}}' },
      header: call('/never', { needs: ['ask'], headers: { 'X-Trace': '{{tasks.ask.body.trace}}' } }),
      number: call('/counted', { needs: ['ask'], headers: { 'X-Count': '{{tasks.ask.body.count}}' } }),
    });
    expect(statuses(run)).toEqual({
      ask: 'success',
      url: 'template_error',
      header: 'template_error',
      number: 'success',
    });
    expect(run.tasks.header!.error_message).toContain('{{tasks.ask.body.trace}}');
    expect(shop().bodies('/never')).toEqual([]);
  });

  it('a response over 256 KB is cut, and a template that reads it fails with the reason', async () => {
    shop().answer('/large', 200, { amount: 1, filler: 'x'.repeat(300 * 1024) });
    const run = await runOnce(api(), 'truncated', {
      charge: call('/large'),
      receipt: call('/never', { needs: ['charge'], body: { amount: '{{tasks.charge.body.amount}}' } }),
      log: call('/log', { needs: ['charge'], body: { code: '{{tasks.charge.status_code}}' } }),
    });
    expect(statuses(run)).toEqual({ charge: 'success', receipt: 'template_error', log: 'success' });
    expect(run.tasks.charge!.is_truncated).toBe(true);
    expect(run.tasks.receipt!.error_message).toBe(
      "Cannot read 'body.amount' because the response from 'charge' exceeded the 256KB limit and was truncated",
    );
    const { tasks } = await getRun(api(), 'truncated', run.id, '?include=body');
    expect(tasks.charge!.response_body).toHaveLength(256 * 1024);
  });
});
