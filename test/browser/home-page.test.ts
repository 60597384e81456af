// The pages in a real browser against a real server: what an operator sees and does there, and that nothing which comes from data
// is ever run.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';
import { findChromium, startChromium } from './chromium.ts';
import { Page } from './page.ts';

const program = await findChromium();
const server = useServer({ engine: { parkAfterMs: 0 } });

describe.skipIf(program === null)('the pages in a browser', () => {
  let chromium: Awaited<ReturnType<typeof startChromium>>;
  let page: Page;

  beforeAll(async () => {
    chromium = await startChromium(program!);
    const greet = echo('greet', { text: '{{ trigger.name }}' });
    await server.pawl.publish(chain('greeting', greet), { tenantId: 'acme' });
    const rest = { id: 'rest', actionType: 'core.delay', parameters: { durationMs: 3_600_000 } };
    await server.pawl.publish(chain('resting', rest), { tenantId: 'acme' });
    page = await Page.open(chromium.address);
  });
  afterAll(async () => {
    page?.close();
    await chromium?.stop();
  });

  /** Opens the home page as somebody who has given a token before. */
  const comeHome = async () => {
    await page.go(`${server.url}/`);
    await page.evaluate(`sessionStorage.setItem('token', ${JSON.stringify(await tokenFor())}); refresh()`);
    await page.until(`document.querySelector('#workflows').innerText.includes('greeting')`);
  };
  const runOf = async (workflow: string, trigger: string) => {
    await page.evaluate(
      `[...document.querySelectorAll('#workflows tr')].find((row) => row.innerText.includes('${workflow}')).querySelector('button').click()`,
    );
    await page.type('#run-trigger', trigger);
    await page.click('#run button');
  };

  it('ask for a token, and show nothing before there is one', async () => {
    await page.go(`${server.url}/`);
    await page.until(`!document.querySelector('#auth').hidden`);
    expect(await page.text('#workflows')).toBe('');
    await page.type('#token', await tokenFor());
    await page.click('#auth button');
    await page.until(`document.querySelector('#workflows').innerText.includes('greeting')`);
    await page.until(`document.querySelector('#auth').hidden && document.querySelector('#note').hidden`);
    // Being refused is what it was for.
    expect(page.complaints.filter((text) => !text.includes('401'))).toEqual([]);
    page.complaints.length = 0;
  });

  it('run a workflow and show it node by node; what comes from data is text', async () => {
    await comeHome();
    const name = '<img src=x onerror="window.wasRun = true"><b>Ada</b>';
    await runOf('greeting', JSON.stringify({ name }));
    await page.until(`document.querySelector('#title').innerText === 'greeting, version 1: Succeeded'`);
    // Each is asked for by itself, and may have been asked for before the end.
    await page.until(`/^greet\\s+core\\.echo\\s+Succeeded\\s+1/.test(document.querySelector('#nodes').innerText)`);
    await page.until(`document.querySelector('#events').innerText.includes('ExecutionSucceeded')`);
    expect(await page.text('#facts')).toContain(JSON.stringify({ text: name }));
    expect(await page.evaluate('window.wasRun ?? false')).toBe(false);
    await page.evaluate(`location.hash = ''`);
    await page.until(`document.querySelector('#executions').innerText.includes('Succeeded')`);
    expect(page.complaints).toEqual([]);
  });

  it('pause, resume and cancel what runs', async () => {
    await comeHome();
    await runOf('resting', '{}');
    const press = async (label: string) => {
      const found = `[...document.querySelectorAll('#actions button')].find((one) => one.innerText === '${label}')`;
      await page.until(`((one) => one?.click() ?? one)(${found})`);
    };
    const shows = (status: string) => page.until(`document.querySelector('#title').innerText.endsWith(': ${status}')`);
    await shows('Running');
    await press('Pause');
    await shows('Paused');
    await press('Resume');
    await shows('Running');
    await press('Cancel');
    await shows('Cancelled');
    expect(await page.text('#actions')).toBe('');
    expect(page.complaints).toEqual([]);
  });

  it('say what is wrong with what somebody did, for as long as they need', async () => {
    await comeHome();
    await runOf('greeting', '{ name: Ada }');
    const complains = `!document.querySelector('#note').hidden && document.querySelector('#note').innerText.includes('JSON')`;
    await page.until(complains);
    await page.evaluate('refresh()');
    expect(await page.evaluate(complains)).toBe(true);
    await runOf('greeting', '{ "name": "Ada" }');
    await page.until(`document.querySelector('#title').innerText.endsWith(': Succeeded')`);
    expect(await page.evaluate(`document.querySelector('#note').hidden`)).toBe(true);
  });

  it('describe every route', async () => {
    await page.go(`${server.url}/docs`);
    await page.until(`document.querySelectorAll('details').length > 50`);
    expect(await page.text('body')).toContain('/api/v1/workflows/{workflowId}/execute');
    expect(page.complaints).toEqual([]);
  });
});
