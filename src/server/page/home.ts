// `/`: what is here and what has happened, by the same API that everybody uses.

import type { Answer } from '../route.ts';
import { pageAnswer } from './page.ts';

const BODY = `
<header><h1>Pawl</h1><a href="/docs">API reference</a><a href="/api/v1/openapi.json">OpenAPI</a><a href="/health/ready">Health</a></header>
<p id="note" class="muted" hidden></p>
<form id="auth" hidden><input id="token" type="password" placeholder="Token or API key" autocomplete="off"> <button>Use it</button></form>
<h2>Workflows</h2><table><thead><tr><th>Id</th><th>Name</th><th>Format</th><th>Status</th><th>Version</th></tr></thead><tbody id="workflows"></tbody></table>
<h2>Recent executions</h2><table><thead><tr><th>Execution</th><th>Workflow</th><th>Status</th><th>Started</th><th>Took</th><th>Error</th></tr></thead><tbody id="executions"></tbody></table>
<section id="one" hidden><h2 id="title"></h2><pre id="detail"></pre></section>
`;

const SCRIPT = `
'use strict';
const $ = (id) => document.getElementById(id);
const headers = () => { const token = sessionStorage.getItem('token'); return token ? { authorization: 'Bearer ' + token } : {}; };
const ask = async (path) => {
  const answer = await fetch(path, { headers: headers() });
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.error.message), { status: answer.status });
  return body;
};
const cell = (text, name) => { const td = document.createElement('td'); td.textContent = text ?? ''; if (name) td.className = name; return td; };
const row = (...cells) => { const tr = document.createElement('tr'); tr.append(...cells); return tr; };
const took = (e) => e.startedAt && e.completedAt ? ((Date.parse(e.completedAt) - Date.parse(e.startedAt)) / 1000).toFixed(2) + ' s' : '';
const link = (execution) => {
  const td = cell('', 'id');
  const a = document.createElement('a');
  a.href = '#' + execution.executionId;
  a.textContent = execution.executionId;
  td.append(a);
  return td;
};
const show = async () => {
  const id = location.hash.slice(1);
  $('one').hidden = !id;
  if (!id) return;
  $('title').textContent = 'Execution ' + id;
  const execution = await ask('/api/v1/executions/' + encodeURIComponent(id) + '?include=actions,children,resources');
  $('detail').textContent = JSON.stringify(execution, null, 2);
};
const refresh = async () => {
  try {
    const [workflows, executions] = await Promise.all([ask('/api/v1/workflows?limit=50'), ask('/api/v1/executions?limit=30')]);
    $('workflows').replaceChildren(...workflows.data.map((w) => row(cell(w.id ?? w.name, 'id'), cell(w.displayName ?? w.name), cell(w.format ?? 'pipeline'), cell(w.status), cell(w.currentVersion))));
    $('executions').replaceChildren(...executions.data.map((e) => row(link(e), cell(e.workflowId), cell(e.why ? e.status + ' (' + e.why + ')' : e.status, e.status), cell(e.startedAt ? new Date(e.startedAt).toLocaleString() : ''), cell(took(e)), cell(e.error && e.error.code + ': ' + e.error.message))));
    $('note').hidden = true; $('auth').hidden = true;
    await show();
  } catch (error) {
    $('note').hidden = false; $('note').textContent = error.message; $('auth').hidden = error.status !== 401 && error.status !== 403;
  }
};
$('auth').addEventListener('submit', (event) => { event.preventDefault(); sessionStorage.setItem('token', $('token').value.trim()); refresh(); });
addEventListener('hashchange', refresh);
refresh();
setInterval(() => { if (!document.hidden) refresh(); }, 3000);
`;

export const homePage = (): Answer => pageAnswer('Pawl', BODY, SCRIPT);
