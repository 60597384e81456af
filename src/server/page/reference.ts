// `/docs`: every route, read from the OpenAPI document in the browser.

import type { Answer } from '../route.ts';
import { pageAnswer } from './page.ts';

const BODY = `
<header><h1>Pawl API</h1><a href="/">Home</a><a href="/api/v1/openapi.json">OpenAPI 3.1</a></header>
<p class="muted">Every refusal is <code>{ "error": { code, message, correlationId, timestamp, details? } }</code>. Every list is <code>{ data, nextCursor? }</code>.</p>
<main id="main">Loading …</main>
`;

const SCRIPT = `
'use strict';
const element = (name, text, className) => { const e = document.createElement(name); if (text !== undefined) e.textContent = text; if (className) e.className = className; return e; };
const resolve = (api, schema, depth) => {
  if (schema === null || typeof schema !== 'object' || depth > 5) return schema;
  if (Array.isArray(schema)) return schema.map((item) => resolve(api, item, depth));
  if (schema.$ref) return resolve(api, api.components.schemas[schema.$ref.split('/').pop()], depth + 1);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolve(api, value, depth)]));
};
const block = (title, api, schema) => [element('div', title, 'muted'), element('pre', JSON.stringify(resolve(api, schema, 0), null, 2))];
const operation = (api, method, path, spec) => {
  const details = element('details');
  const summary = element('summary');
  summary.append(element('span', method.toUpperCase(), 'method'), element('code', path), ' ', element('span', spec.summary, 'muted'));
  details.append(summary, element('p', spec['x-scope'] ? 'Scope: ' + spec['x-scope'] : 'No token needed', 'muted'));
  details.addEventListener('toggle', () => {
    if (details.childElementCount > 2) return;
    if (spec.parameters.length > 0) details.append(...block('Parameters', api, spec.parameters.map(({ name, in: place, required, description, schema }) => ({ name, in: place, required, description, schema }))));
    for (const [type, { schema }] of Object.entries(spec.requestBody?.content ?? {})) details.append(...block('Body: ' + type, api, schema));
    for (const [status, answer] of Object.entries(spec.responses)) {
      const schema = answer.content?.['application/json']?.schema;
      if (schema) details.append(...block('Answer ' + status, api, schema));
    }
  }, { once: false });
  return details;
};
fetch('/api/v1/openapi.json').then((answer) => answer.json()).then((api) => {
  const tags = new Map();
  for (const [path, methods] of Object.entries(api.paths)) for (const [method, spec] of Object.entries(methods)) {
    const [tag] = spec.tags;
    if (!tags.has(tag)) tags.set(tag, []);
    tags.get(tag).push(operation(api, method, path, spec));
  }
  document.getElementById('main').replaceChildren(...[...tags].flatMap(([tag, operations]) => [element('h2', tag), ...operations]));
});
`;

export const referencePage = (): Answer => pageAnswer('Pawl API', BODY, SCRIPT);
