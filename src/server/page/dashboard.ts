// The built dashboard in memory: a page for every path of src/protocol/page-path.ts, and its assets by hashed name. Each page has
// its own nonce and a policy that allows nothing from elsewhere (S2: the pages are public and contain no data). Without a build,
// a page says how to make one.

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Answer } from '../route.ts';
import { pageAnswer } from './page.ts';

/** Beside the sources in the repository, and at the same place below dist/ in the package. */
const BUILD = new URL('../../../dashboard/dist/', import.meta.url);
const NONCE_PLACEHOLDER = '__PAWL_NONCE__';
const FOREVER = 'public, max-age=31536000, immutable';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer | null;
  readonly brotli: Buffer | null;
}

export interface Dashboard {
  page(): Answer;
  /** Null: there is no such file. */
  asset(name: string, acceptEncoding: string): Answer | null;
}

export function openDashboard(folder: URL = BUILD): Dashboard {
  const index = new URL('index.html', folder);
  if (!existsSync(index)) return missing();
  const html = readFileSync(index, 'utf8');
  const assets = readAssets(new URL('assets/', folder));
  return {
    page: () => pageWithNonce(html),
    asset(name, acceptEncoding) {
      const asset = assets.get(name);
      return asset === undefined ? null : assetAnswer(asset, acceptEncoding);
    },
  };
}

function readAssets(folder: URL): Map<string, Asset> {
  const assets = new Map<string, Asset>();
  for (const name of readdirSync(folder)) {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (type === undefined) continue;
    const [plain, gzip, brotli] = ['', '.gz', '.br'].map((ending) => readIfThere(new URL(`${name}${ending}`, folder)));
    assets.set(name, { type, plain: plain!, gzip: gzip ?? null, brotli: brotli ?? null });
  }
  return assets;
}

const readIfThere = (file: URL): Buffer | null => (existsSync(file) ? readFileSync(file) : null);

function pageWithNonce(html: string): Answer {
  const nonce = randomBytes(16).toString('base64');
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyWith(nonce),
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    },
    body: html.replaceAll(NONCE_PLACEHOLDER, nonce),
  };
}

function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function assetAnswer({ type, plain, gzip, brotli }: Asset, acceptEncoding: string): Answer {
  const [encoding, body] = /\bbr\b/.test(acceptEncoding) && brotli !== null ? (['br', brotli] as const) : packed();
  function packed(): readonly [string | null, Buffer] {
    return /\bgzip\b/.test(acceptEncoding) && gzip !== null ? ['gzip', gzip] : [null, plain];
  }
  return {
    status: 200,
    headers: {
      'content-type': type,
      'cache-control': FOREVER,
      vary: 'accept-encoding',
      ...(encoding === null ? {} : { 'content-encoding': encoding }),
    },
    body,
  };
}

const NOT_BUILT = `
<header><h1>Pawl</h1><a href="/docs">API reference</a></header>
<p>The server runs, but the dashboard has not been built. In a clone of the repository, <code>npm run dashboard</code> builds it; then start the server again.</p>
`;

function missing(): Dashboard {
  return { page: () => pageAnswer('Pawl', NOT_BUILT, ''), asset: () => null };
}
