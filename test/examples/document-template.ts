// Writes the document templates that the graph examples name, through the API.

import type { Pawl } from '../../src/main.ts';

/** Versions 1 to `versions` of a template in the set `project-briefs`; the body says which version it is. */
export async function writeTemplates(pawl: Pawl, templateId: string, versions: number): Promise<void> {
  await send(pawl, 'PUT', '/templates/sets/project-briefs', { displayName: 'Project briefs', team: 'PMO' });
  for (let version = 1; version <= versions; version += 1) {
    await send(pawl, 'POST', `/templates/project-briefs/${templateId}`, {
      displayName: 'Project brief',
      fields: [{ key: 'title', label: 'Title', type: 'text', required: true }],
      bodyTemplate: `<h1>{{ answers.title }}</h1> v${version}`,
    });
  }
}

async function send(pawl: Pawl, method: string, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${pawl.url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
}
