// A page that needs only this server: one style, one script, and a policy that allows no other script. Data enters as text, never
// as markup.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Answer } from '../route.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #2563eb }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1.5rem }
h1 { font-size: 1.4rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem } h3, h4 { font-size: 1rem; margin: 1.2rem 0 .3rem }
h1 a { color: inherit; text-decoration: none }
header { display: flex; gap: 1.5rem; align-items: baseline; flex-wrap: wrap } a { color: var(--accent) }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line) }
th { font-weight: 600 } code, pre, td.id, textarea { font: 13px/1.5 ui-monospace, monospace }
.wide { overflow-x: auto } td.id { white-space: nowrap } td { vertical-align: top } code { overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .5rem 0 } dt { opacity: .7 } dd { margin: 0 }
.note { border-left: 3px solid #dc2626; padding: .3rem .8rem } #run { margin-top: 1rem } textarea { display: block; width: 100%; margin: .3rem 0 }
pre { background: var(--soft); padding: .75rem; overflow: auto; border-radius: 6px }
details { border-bottom: 1px solid var(--line); padding: .35rem 0 } summary { cursor: pointer }
.method { display: inline-block; width: 4.5rem; font-weight: 600 } .muted { opacity: .7 }
.Succeeded { color: #15803d } .Failed, .TimedOut { color: #dc2626 } .Cancelled, .Skipped, .Pending { opacity: .7 }
.Retrying, .Waiting, .Sleeping, .Paused { color: #b45309 } button { cursor: pointer }
input, button, textarea, select { color: inherit; font: inherit; padding: .3rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: transparent }
select { font-size: 15px; font-weight: 400; float: right } option { color: CanvasText; background: Canvas } .time { white-space: nowrap }
`;

/** A script that lies beside this file. */
export const scriptOf = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');

export function pageAnswer(title: string, body: string, script: string): Answer {
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
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
