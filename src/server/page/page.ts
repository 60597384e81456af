// A page that needs nothing but this server: one style, one script, and a policy that lets the browser run that script and no
// other. Whatever comes from data enters as text, never as markup.

import { createHash } from 'node:crypto';
import type { Answer } from '../route.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #2563eb }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1.5rem }
h1 { font-size: 1.4rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
header { display: flex; gap: 1.5rem; align-items: baseline; flex-wrap: wrap } a { color: var(--accent) }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line) }
th { font-weight: 600 } code, pre, td.id { font: 13px/1.5 ui-monospace, monospace }
pre { background: var(--soft); padding: .75rem; overflow: auto; border-radius: 6px }
details { border-bottom: 1px solid var(--line); padding: .35rem 0 } summary { cursor: pointer }
.method { display: inline-block; width: 4.5rem; font-weight: 600 } .muted { opacity: .7 }
.Succeeded { color: #15803d } .Failed, .TimedOut { color: #dc2626 } .Cancelled { opacity: .7 }
input, button { font: inherit; padding: .3rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: transparent }
`;

export function pageAnswer(title: string, body: string, script: string): Answer {
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'`;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head>
<body>${body}<script>${script}</script></body></html>
`;
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
    body: html,
  };
}
