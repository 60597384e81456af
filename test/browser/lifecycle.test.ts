import { beforeAll, describe, expect, it } from 'vitest';
import { tokenFor, useServer } from '../server/api-server.ts';
import { program, useBrowser } from './browser.ts';
import { fillWithSamples, type SampleData } from './sample-data.ts';

const server = useServer({ engine: { parkAfterMs: 0 } });

describe.skipIf(program === null)('lifecycles and their messages', () => {
  const browser = useBrowser();
  let samples: SampleData;
  beforeAll(async () => {
    samples = await fillWithSamples(server.url, await tokenFor());
    return () => samples.stop();
  });

  it('the page of a lifecycle shows how many instances are in each state, and opens them', async () => {
    const page = await browser.open(`${server.url}/lifecycles/prod/loan`);
    await page.getByRole('button', { name: /^submitted\s*3$/ }).click();
    await expect.poll(() => page.getByRole('table', { name: 'Instances' }).getByRole('row').count()).toBe(4);
    expect(new URL(page.url()).searchParams.get('state')).toBe('submitted');
  });

  it('the page of an instance shows who has acknowledged each message, and sends dead ones again', async () => {
    const dead = async () => (await samples.client.deliveries.list({ stage: 'Dead', limit: 200 })).data;
    await expect.poll(async () => (await dead()).length).toBeGreaterThan(0);
    // After some failures in a row the broken consumer is left alone for a while, so it is chance which loan's message died
    // before that.
    const { subjectId } = (await dead())[0]!;
    const { data } = await samples.client.lifecycles.of('prod', 'loan').instances();
    const { externalRef } = data.find(({ instanceId }) => instanceId === subjectId)!;
    const page = await browser.open(`${server.url}/lifecycles/prod/loan/${externalRef}?tab=messages`);
    const matrix = page.getByRole('table', { name: 'Acknowledgements' });
    for (const consumer of ['audit', 'crm', 'kyc'])
      await matrix.getByRole('columnheader', { name: consumer }).waitFor();
    // Every cell shows the stage that the server has for that message and that consumer.
    const { data: entries } = await samples.client.lifecycles.of('prod', 'loan').timeline(externalRef);
    const ackGuids = entries.flatMap(({ messages = [] }) => messages);
    const stages = async () => {
      const { data: all } = await samples.client.deliveries.list({ stage: 'any', ackGuids, limit: 200 });
      return all.map(({ event, consumer, stage }) => `${event} ${consumer} ${stage}`).toSorted();
    };
    const shown = async () => {
      const names = (await matrix.getByRole('columnheader').allInnerTexts()).slice(1);
      const rows = await matrix
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader') })
        .all();
      const cells = await Promise.all(
        rows.map(async (row) => {
          const event = (await row.getByRole('rowheader').innerText()).split(/\s+/)[1]!;
          const texts = await row.getByRole('cell').allInnerTexts();
          return texts.map((text, index) => `${event} ${names[index]} ${text.split(/\s+/)[0]}`);
        }),
      );
      return cells.flat().toSorted();
    };
    await expect
      .poll(async () => [await shown(), (await shown()).length])
      .toEqual([await stages(), 3 * ackGuids.length]);
    await matrix.getByText('Dead').first().waitFor();
    await matrix.getByRole('button', { name: 'Send again' }).first().click();
    await page.getByText('Send again: accepted').waitFor();
    await expect
      .poll(async () => (await samples.client.admin.audit({ limit: 50 })).data.map(({ action }) => action))
      .toContain('delivery.requeue');
  });
});
