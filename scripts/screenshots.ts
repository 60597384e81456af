// Takes a picture of every page of the dashboard, at 1400 and 375 pixels, in both themes, of a real server with sample data: `npm
// run screenshots -- [--out folder] [--only part-of-name]`. The pictures are for people; nothing compares them.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { createPawl } from '../src/main.ts';
import { CHROMIUM_FLAGS, findChromium } from '../test/browser/chromium.ts';
import { fillWithSamples, fulfil, type SampleData } from '../test/browser/sample-data.ts';

const { values } = parseArgs({
  options: { out: { type: 'string' }, only: { type: 'string' }, theme: { type: 'string' }, width: { type: 'string' } },
});
const out = values.out ?? join(import.meta.dirname, '..', '.cache', 'screenshots');
const WIDTHS = [1400, 375].filter((width) => values.width === undefined || values.width === String(width));
const THEMES = (['light', 'dark'] as const).filter((theme) => values.theme === undefined || values.theme === theme);

const pagesOf = ({
  failed,
  waiting,
  retrying,
  hostile,
  webhookTrigger,
  deciding,
  undone,
}: SampleData & Awaited<ReturnType<typeof fulfil>>): Record<string, string> => ({
  overview: '/',
  executions: '/executions',
  'execution-failed': `/executions/${failed}?node=charge`,
  'execution-timeline': `/executions/${failed}?tab=timeline`,
  'execution-events': `/executions/${failed}?tab=events`,
  'execution-waiting': `/executions/${waiting}`,
  'execution-retrying': `/executions/${retrying}`,
  'execution-loops': `/executions/${deciding}?node=ship`,
  'execution-undone': `/executions/${undone}`,
  'execution-hostile': `/executions/${hostile}?tab=data`,
  failures: '/failures',
  waits: '/waits',
  workflows: '/workflows',
  workflow: '/workflows/orders',
  'workflow-versions': '/workflows/orders?tab=versions',
  'workflow-executions': '/workflows/orders?tab=executions',
  'workflow-stats': '/workflows/orders?tab=stats',
  'workflow-new': '/workflows/new',
  lifecycles: '/lifecycles',
  lifecycle: '/lifecycles/prod/loan',
  instance: '/lifecycles/prod/loan/loan-17?tab=messages',
  consumer: '/consumers/kyc',
  trigger: `/triggers/${webhookTrigger}`,
  connector: '/catalog/http',
  messages: '/messages',
  triggers: '/triggers',
  templates: '/templates',
  catalog: '/catalog',
  operations: '/operations',
  settings: '/settings',
});

/** The numbers of the overview lag some seconds behind the executions. */
async function countedStatistics({ statistics }: SampleData['client']): Promise<void> {
  const end = Date.now() + 30_000;
  while ((await statistics.failures()).data.length < CAUSES && Date.now() < end) await pause(500);
}

/** The causes in the samples: a charge, a stop, an order without stock. */
const CAUSES = 3;

async function main(): Promise<void> {
  const program = await findChromium();
  if (program === null) return;
  const folder = mkdtempSync(join(tmpdir(), 'pawl-screenshots-'));
  const pawl = await createPawl({
    serve: true,
    database: { dataDir: folder },
    server: { port: 0, host: '127.0.0.1', logLevel: 'warn' },
    auth: { allowLooseAuth: true },
    http: { allowLoopback: true },
    engine: { parkAfterMs: 0, drainMs: 500 },
  });
  const samples = await fillWithSamples(pawl.url!);
  const loops = await fulfil(samples.client);
  await countedStatistics(samples.client);
  const browser = await chromium.launch({ executablePath: program, args: CHROMIUM_FLAGS });
  mkdirSync(out, { recursive: true });
  try {
    const pages = Object.entries(pagesOf({ ...samples, ...loops })).filter(([name]) =>
      name.includes(values.only ?? ''),
    );
    for (const width of WIDTHS) {
      for (const colorScheme of THEMES) {
        const context = await browser.newContext({ viewport: { width, height: width > 500 ? 880 : 720 }, colorScheme });
        const page = await context.newPage();
        page.on('console', (message) => message.type() === 'error' && console.error(`console: ${message.text()}`));
        page.on('pageerror', (error) => console.error(`page: ${error.message}`));
        for (const [name, path] of pages) {
          await page.goto(`${pawl.url}${path}`, { waitUntil: 'load' });
          await page.waitForFunction(
            () => document.querySelector('h1') !== null && document.querySelector('[aria-label="Loading"]') === null,
          );
          await page.waitForTimeout(900);
          await page.screenshot({ path: join(out, `${name}-${width}-${colorScheme}.png`) });
        }
        await context.close();
      }
    }
  } finally {
    await browser.close();
    samples.stop();
    await pawl.close();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`screenshots are in ${out}`);
}

await main();
