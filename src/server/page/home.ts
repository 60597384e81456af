// `/`: what is here, what has happened, and one execution node by node. What it does in the browser is home-script.js.

import { EXECUTION_STATUSES } from '../../protocol/execution.ts';
import type { Answer } from '../route.ts';
import { pageAnswer, scriptOf } from './page.ts';

const head = (...names: string[]): string =>
  `<thead><tr>${names.map((name) => `<th>${name}</th>`).join('')}</tr></thead>`;

const table = (id: string, ...names: string[]): string =>
  `<div class="wide"><table>${head(...names)}<tbody id="${id}"></tbody></table></div>`;

const statuses = ['', ...EXECUTION_STATUSES].map((name) => `<option value="${name}">${name || 'any status'}</option>`);

const BODY = `
<header><h1><a href="#">Pawl</a></h1><a href="/docs">API reference</a><a href="/api/v1/openapi.json">OpenAPI</a><a href="/health/ready">Health</a></header>
<p id="note" class="note" hidden></p>
<form id="auth" hidden><input id="token" type="password" placeholder="Token or API key" autocomplete="off"> <button>Use it</button></form>
<main id="lists">
<h2>Workflows</h2>
${table('workflows', 'Id', 'Name', 'Format', 'Status', 'Version', '')}
<p id="no-workflows" class="muted" hidden>None yet: <code>pawl publish my-workflow.json</code> adds one.</p>
<form id="run" hidden>
<label for="run-trigger">Trigger of <b id="run-workflow"></b>, as JSON</label>
<textarea id="run-trigger" rows="4" spellcheck="false">{}</textarea> <button>Run</button>
</form>
<h2><span id="which">Recent executions</span> <select id="status" aria-label="Status">${statuses.join('')}</select></h2>
${table('executions', 'Execution', 'Workflow', 'Status', 'Started', 'Took', 'Error')}
<p id="no-executions" class="muted" hidden>None.</p>
</main>
<section id="one" hidden>
<h2 id="title"></h2>
<p id="actions"></p>
<dl id="facts"></dl>
<h3>Nodes</h3>
${table('nodes', 'Node', 'Type', 'Status', 'Attempts', 'Took', 'Why')}
<h3>Events</h3>
${table('events', 'Time', 'Level', 'Node', 'Event', '')}
<details id="raw"><summary>As JSON</summary><pre id="detail"></pre></details>
<p><a href="#">Back to all of them</a></p>
</section>
`;

const SCRIPT = scriptOf('home-script.js');

export const homePage = (): Answer => pageAnswer('Pawl', BODY, SCRIPT);
