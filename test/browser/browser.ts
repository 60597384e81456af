// A real Chromium for the tests of a file, and pages in it that record what the browser complained about. A test must end with no
// error in the console, no violation of the content security policy, and no request to another host.

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { tokenFor } from '../server/api-server.ts';
import { CHROMIUM_FLAGS, findChromium } from './chromium.ts';

export const program = await findChromium();

interface OpenOptions {
  /** Absent: Ada of `acme`, who may do everything. Null: nobody has signed in. */
  readonly token?: string | null;
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
}

export interface TestBrowser {
  open(url: string, options?: OpenOptions): Promise<Page>;
  /** The complaints of browsers in this test; a test that expects a complaint empties the list. */
  readonly complaints: string[];
}

const WIDTH = 1400;
const TIMEOUT_MS = 30_000;

export function useBrowser(): TestBrowser {
  const complaints: string[] = [];
  const contexts: BrowserContext[] = [];
  let browser: Browser;
  beforeAll(async () => {
    if (program !== null) browser = await chromium.launch({ executablePath: program, args: CHROMIUM_FLAGS });
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
  });
  return {
    complaints,
    async open(url, { token, width = WIDTH, theme = 'light' } = {}) {
      const context = await browser.newContext({ viewport: { width, height: 880 }, colorScheme: theme });
      contexts.push(context);
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await signIn(context, token === undefined ? await tokenFor() : token);
      const page = await context.newPage();
      page.setDefaultTimeout(TIMEOUT_MS);
      watch(page, new URL(url).origin, complaints);
      await page.goto(url);
      return page;
    },
  };
}

async function signIn(context: BrowserContext, token: string | null): Promise<void> {
  if (token === null) return;
  const stored = JSON.stringify({ identities: [{ name: 'ada', token }], current: 0 });
  await context.addInitScript((text) => {
    if (sessionStorage.getItem('pawl.tokens') === null) sessionStorage.setItem('pawl.tokens', text);
  }, stored);
}

function watch(page: Page, origin: string, complaints: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content.Security.Policy/i.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:') && !url.startsWith('blob:')) complaints.push(`asks ${url}`);
  });
}
