import { describe, expect, it } from 'vitest';
import { answersSchemaOf, missingAnswers } from './document-fields.ts';

const list = [{ key: 'title', required: true }, { key: 'note' }, { key: 'goal', required: true }];

describe('the fields of a document', () => {
  it.each([[list], [{ fields: list }]])('fields as %j say which answers are required', (fields) => {
    expect(missingAnswers(fields, { title: 'x', goal: 0 })).toEqual([]);
    expect(missingAnswers(fields, { title: '', goal: null })).toMatchObject([
      { code: 'REQUIRED', path: '/answers/title' },
      { path: '/answers/goal' },
    ]);
  });

  it('a member of every object does not count as an answer', () => {
    expect(missingAnswers([{ key: 'toString', required: true }], {})).toHaveLength(1);
  });

  it('fields may contain a schema for the answers', () => {
    const jsonSchema = { type: 'object' };
    expect(answersSchemaOf({ fields: list, validation: { jsonSchema } })).toEqual(jsonSchema);
    for (const fields of [list, {}, { validation: {} }, { validation: { jsonSchema: null } }]) {
      expect(answersSchemaOf(fields)).toBeNull();
    }
    expect(missingAnswers({}, {})).toEqual([]);
  });
});
