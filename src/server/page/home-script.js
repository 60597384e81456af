// The home page in the browser: workflows, executions, and one execution node by node. It asks the same API that everybody
// uses. Whatever comes from data enters the page as text, never as markup.

const REFRESH_MS = 2_000;
const ENDED = new Set(['Succeeded', 'Failed', 'Cancelled', 'TimedOut']);
const EVENTS_SHOWN = 200;

const byId = (id) => document.getElementById(id);

// ── The API ─────────────────────────────────────────────────────────────────────────────────────────────────────────

async function ask(path, body) {
  const token = sessionStorage.getItem('token');
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  const request = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`/api/v1${path}`, request);
  const content = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(content.error.message), { status: answer.status });
  return content;
}

// ── Elements ────────────────────────────────────────────────────────────────────────────────────────────────────────

function element(name, content = '', className = '') {
  const made = document.createElement(name);
  made.className = className;
  made.append(...[content].flat());
  return made;
}

function link(href, text) {
  const made = element('a', text);
  made.href = href;
  return made;
}

function button(text, act) {
  const made = element('button', text);
  made.addEventListener('click', () => {
    beginAnew();
    act().then(refresh, complain);
  });
  return made;
}

const row = (...cells) =>
  element(
    'tr',
    cells.map((cell) => (cell instanceof HTMLTableCellElement ? cell : element('td', cell ?? ''))),
  );

const status = (text, why) => element('td', why && why !== 'running' ? `${text} (${why})` : text, text);
const clock = (time) => (time ? new Date(time).toLocaleString() : '');
const said = (error) => (error ? `${error.code}: ${error.message}` : '');

function took({ startedAt, completedAt }) {
  if (!startedAt || !completedAt) return '';
  const ms = Date.parse(completedAt) - Date.parse(startedAt);
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

// ── The lists ───────────────────────────────────────────────────────────────────────────────────────────────────────

async function showLists(wanted) {
  const filter = new URLSearchParams({ limit: '30' });
  if (wanted.workflow) filter.set('workflowId', wanted.workflow);
  if (byId('status').value) filter.set('status', byId('status').value);
  const [workflows, executions] = await Promise.all([ask('/workflows?limit=50'), ask(`/executions?${filter}`)]);
  byId('workflows').replaceChildren(...workflows.data.map(workflowRow));
  byId('executions').replaceChildren(...executions.data.map(executionRow));
  byId('no-workflows').hidden = workflows.data.length > 0;
  byId('no-executions').hidden = executions.data.length > 0;
  byId('which').replaceChildren(
    ...(wanted.workflow ? [`Executions of ${wanted.workflow} `, link('#', 'all')] : ['Recent executions']),
  );
}

function workflowRow({ id, displayName, format, status: state, currentVersion }) {
  // A pipeline goes by its name; its id is for programs.
  const name = format === 'pipeline' ? displayName : id;
  return row(
    element('td', link(`#workflow=${encodeURIComponent(name)}`, name), 'id'),
    displayName,
    format,
    state,
    String(currentVersion ?? ''),
    state === 'Active' ? element('td', runButton(name)) : '',
  );
}

function runButton(id) {
  const made = element('button', 'Run …');
  made.addEventListener('click', () => {
    byId('run').hidden = false;
    byId('run-workflow').textContent = id;
    byId('run-trigger').focus();
    byId('run').scrollIntoView({ block: 'nearest' });
  });
  return made;
}

const executionRow = (execution) =>
  row(
    element('td', link(`#${execution.executionId}`, execution.executionId), 'id'),
    execution.workflowId,
    status(execution.status, execution.why),
    element('td', clock(execution.startedAt), 'time'),
    took(execution),
    said(execution.error),
  );

// ── One execution ───────────────────────────────────────────────────────────────────────────────────────────────────

async function showExecution(id) {
  const path = `/executions/${encodeURIComponent(id)}`;
  const [execution, graph, events] = await Promise.all([
    ask(`${path}?include=children,resources`),
    ask(`${path}/graph`),
    ask(`${path}/events?limit=${EVENTS_SHOWN}`),
  ]);
  const { workflowId, version, status: state } = execution;
  byId('title').replaceChildren(`${workflowId}, version ${version}: `, element('span', state, state));
  byId('actions').replaceChildren(...actionsOf(path, state));
  byId('facts').replaceChildren(
    ...factsOf(execution).flatMap(([name, value]) => [element('dt', name), element('dd', value)]),
  );
  byId('nodes').replaceChildren(...graph.nodes.map(nodeRow));
  byId('events').replaceChildren(...events.data.map(eventRow));
  const isOpen = byId('raw').open;
  byId('detail').textContent = isOpen ? JSON.stringify({ ...execution, graph }, null, 2) : '';
}

function actionsOf(path, state) {
  const signal = (type) => () => ask(`${path}/signals`, { signalId: crypto.randomUUID(), type });
  if (state === 'Failed' || state === 'TimedOut') return [button('Retry', () => ask(`${path}/retry`, {}))];
  if (ENDED.has(state)) return [];
  const hold = state === 'Paused' ? button('Resume', signal('RESUME')) : button('Pause', signal('PAUSE'));
  return [hold, button('Cancel', () => ask(`${path}/cancel`, {}))];
}

function factsOf(execution) {
  const json = (value) => (value === undefined ? undefined : element('code', JSON.stringify(value)));
  const links = (items) => (items.length > 0 ? items.flatMap((item) => [item, ' ']) : undefined);
  return [
    ['Execution', element('code', execution.executionId)],
    ['Started', clock(execution.startedAt)],
    ['Took', took(execution)],
    ['Trigger', json(execution.trigger)],
    ['Outputs', json(execution.outputs)],
    ['Error', said(execution.error)],
    ['Started by', execution.parentExecutionId && link(`#${execution.parentExecutionId}`, 'its parent')],
    ['Subworkflows', links(execution.children.map((child) => link(`#${child.executionId}`, child.workflowId)))],
    [
      'Made',
      links(
        execution.resources.map(({ system, resourceType, resourceId }) => `${system} ${resourceType} ${resourceId}`),
      ),
    ],
  ].filter(([, value]) => value !== undefined && value !== '');
}

function nodeRow(node) {
  const due = node.until ? `until ${clock(node.until)}` : '';
  const why = [due, node.reason, said(node.error)].filter(Boolean).join(' · ');
  const child = node.childExecutionId ? [link(`#${node.childExecutionId}`, 'its execution'), ' '] : [];
  const cells = [element('td', node.id, 'id'), node.type, status(node.status), String(node.attempts), took(node)];
  return row(...cells, element('td', [...child, why]));
}

const TO_THE_MILLISECOND = { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 };

function eventRow({ ts, level, type, category, nodeId, data }) {
  const { message = '', ...rest } = data ?? {};
  const details = Object.keys(rest).length > 0 ? JSON.stringify(rest) : '';
  const what = type === 'Log' ? category : type;
  return row(
    element('td', new Date(ts).toLocaleTimeString([], TO_THE_MILLISECOND), 'time'),
    level,
    element('td', nodeId ?? '', 'id'),
    what,
    `${message} ${details}`,
  );
}

// ── Putting it together ─────────────────────────────────────────────────────────────────────────────────────────────

/** `#<execution>` or `#workflow=<id>`. */
function wantedNow() {
  const hash = decodeURIComponent(location.hash.slice(1));
  return hash.startsWith('workflow=') ? { workflow: hash.slice('workflow='.length) } : { execution: hash };
}

/** What went wrong with something that somebody did stays until they do the next thing; of a look, until one succeeds. */
function complain(error, isOfLook = false) {
  byId('note').hidden = false;
  byId('note').textContent = error.message;
  byId('note').dataset.stays = isOfLook ? '' : 'yes';
  byId('auth').hidden = error.status !== 401 && error.status !== 403;
}

function beginAnew() {
  byId('note').hidden = true;
  byId('note').dataset.stays = '';
}

async function refresh() {
  const wanted = wantedNow();
  byId('one').hidden = !wanted.execution;
  byId('lists').hidden = Boolean(wanted.execution);
  try {
    await (wanted.execution ? showExecution(wanted.execution) : showLists(wanted));
    if (!byId('note').dataset.stays) byId('note').hidden = true;
    byId('auth').hidden = true;
  } catch (error) {
    complain(error, true);
  }
}

byId('auth').addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem('token', byId('token').value.trim());
  refresh();
});
byId('run').addEventListener('submit', (event) => {
  event.preventDefault();
  beginAnew();
  const text = byId('run-trigger').value.trim() || '{}';
  const id = encodeURIComponent(byId('run-workflow').textContent);
  Promise.resolve()
    .then(() => ask(`/workflows/${id}/execute`, { trigger: JSON.parse(text), requestId: crypto.randomUUID() }))
    .then(({ executionId }) => {
      location.hash = executionId;
    })
    .catch(complain);
});
byId('status').addEventListener('change', refresh);
byId('raw').addEventListener('toggle', refresh);
addEventListener('hashchange', () => {
  scrollTo(0, 0);
  beginAnew();
  refresh();
});
refresh();
setInterval(() => {
  if (!document.hidden) refresh();
}, REFRESH_MS);
