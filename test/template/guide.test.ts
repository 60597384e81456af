// The requests of docs/templates.md, one after the other, and the answers that the page promises.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readOfficialTemplates } from '../../src/store/migrate/official-templates.ts';
import { useServer } from '../server/api-server.ts';

const server = useServer();
const text = readFileSync(new URL('../../docs/templates.md', import.meta.url), 'utf8');

const exchanges = [...text.matchAll(/```http\n(\w+) (\S+)\n([\s\S]*?)```(?:\n\n```json\n([\s\S]*?)```)?/g)];

describe('docs/templates.md', () => {
  it('docs/templates.md shows more than five requests', () => expect(exchanges.length).toBeGreaterThan(5));

  it.each(exchanges.map(([, ...parts]) => parts))(
    'the request %s %s is answered as docs/templates.md says',
    async (method, path, body, promised) => {
      const given = body!.trim() === '' ? {} : { body: JSON.parse(body!) };
      const answer = await server.ask(method!, path!, given);
      expect(answer).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) });
      if (promised !== undefined) expect(answer.body).toMatchObject(JSON.parse(promised));
    },
  );

  it('docs/templates.md names every official template', () => {
    for (const { templateId } of readOfficialTemplates()) expect(text).toContain(`| \`${templateId}\` |`);
  });
});
