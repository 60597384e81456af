// The API reference in the browser: every route, read from the OpenAPI document. What is in backticks is shown as code.

function element(name, content = '', className = '') {
  const made = document.createElement(name);
  made.className = className;
  made.append(...[content].flat());
  return made;
}

const prose = (text = '') => text.split('`').map((part, index) => (index % 2 === 1 ? element('code', part) : part));

const MAX_DEPTH = 5;

/** Schemas with what they refer to in its place. */
function resolve(api, schema, depth = 0) {
  if (schema === null || typeof schema !== 'object' || depth > MAX_DEPTH) return schema;
  if (Array.isArray(schema)) return schema.map((item) => resolve(api, item, depth));
  if (schema.$ref) return resolve(api, api.components.schemas[schema.$ref.split('/').pop()], depth + 1);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolve(api, value, depth)]));
}

const block = (title, api, schema) => [
  element('h4', title),
  element('pre', JSON.stringify(resolve(api, schema), null, 2)),
];

function parameters(spec) {
  const rows = spec.parameters.map(({ name, in: place, required, description, schema }) =>
    element('tr', [
      element('td', element('code', name)),
      element('td', required ? `${place}, required` : place),
      element('td', schema?.enum?.join(', ') ?? schema?.type ?? ''),
      element('td', prose(description ?? schema?.description)),
    ]),
  );
  return [element('h4', 'Parameters'), element('table', rows)];
}

const field = (label, value = '') => {
  const input = element('input');
  input.value = value;
  return { input, row: element('tr', [element('td', label), element('td', input)]) };
};

/** The token is asked for once, and kept as long as the page is open. */
let token = '';

/** Sends the call with what was filled in, and shows what came. */
function tryIt(method, path, spec) {
  const fields = spec.parameters.map((parameter) => ({ ...parameter, ...field(parameter.name) }));
  const auth = field('token (if the server asks for one)', token);
  const example = spec.requestBody?.content?.['application/json']?.example;
  const body = element('textarea');
  body.value = example === undefined ? '' : JSON.stringify(example, null, 2);
  body.rows = Math.min(20, body.value.split('\n').length + 1);
  const answer = element('pre');
  const send = element('button', 'Send');
  send.addEventListener('click', async () => {
    token = auth.input.value;
    const filled = (place) => fields.filter((one) => one.in === place && one.input.value !== '');
    const address = filled('path').reduce(
      (text, { name, input }) => text.replace(`{${name}}`, encodeURIComponent(input.value)),
      path,
    );
    const query = new URLSearchParams(filled('query').map(({ name, input }) => [name, input.value]));
    const sent = await fetch(query.size === 0 ? address : `${address}?${query}`, {
      method: method.toUpperCase(),
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body.value === '' ? {} : { 'content-type': 'application/json' }),
      },
      ...(body.value === '' ? {} : { body: body.value }),
    });
    const text = await sent.text();
    const isJson = sent.headers.get('content-type')?.includes('json');
    answer.textContent = `${sent.status}\n${isJson ? JSON.stringify(JSON.parse(text), null, 2) : text}`;
  });
  const rows = [...fields, auth].map(({ row }) => row);
  return [element('h4', 'Try it'), element('table', rows), ...(spec.requestBody ? [body] : []), send, answer];
}

function fill(details, api, spec, method, path) {
  if (spec.description) details.append(element('p', prose(spec.description)));
  if (spec.parameters?.length > 0) details.append(...parameters(spec));
  for (const [type, { schema, example }] of Object.entries(spec.requestBody?.content ?? {})) {
    if (example !== undefined) details.append(...block('Example', api, example));
    details.append(...block(`Body: ${type}`, api, schema));
  }
  for (const [status, answer] of Object.entries(spec.responses)) {
    const schema = answer.content?.['application/json']?.schema;
    if (schema) details.append(...block(`Answer ${status}`, api, schema));
  }
  details.append(...tryIt(method, path, spec));
}

function operation(api, method, path, spec) {
  const details = element('details');
  const summary = element('summary', [
    element('span', method.toUpperCase(), 'method'),
    element('code', path),
    ' ',
    element('span', prose(spec.summary), 'muted'),
  ]);
  const scope = spec['x-scope'];
  details.append(summary, element('p', scope ? ['Scope: ', element('code', scope)] : 'No token needed', 'muted'));
  details.addEventListener('toggle', () => fill(details, api, spec, method, path), { once: true });
  return details;
}

async function show() {
  const api = await (await fetch('/api/v1/openapi.json')).json();
  const tags = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, spec] of Object.entries(methods)) {
      const [tag] = spec.tags;
      tags.set(tag, [...(tags.get(tag) ?? []), operation(api, method, path, spec)]);
    }
  }
  const sections = [...tags].flatMap(([tag, operations]) => [element('h2', tag), ...operations]);
  document.getElementById('main').replaceChildren(...sections);
}

show();
