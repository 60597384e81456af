import { describe, expect, it } from 'vitest';
import { freeName, slugOf } from './workflow-template-name.ts';

describe('the id of a workflow made from a template', () => {
  it.each([
    ['My Custom Workflow', 'my-custom-workflow'],
    ['  Élan & Größe 2.0! ', 'elan-gro-e-2-0'],
    ['---', 'fallback'],
    ['日本語', 'fallback'],
    ['a'.repeat(300), 'a'.repeat(180)],
    [`${'a'.repeat(179)} b`, 'a'.repeat(179)],
  ])('the id is made from the display name %s', (displayName, expected) => {
    expect(slugOf(displayName, 'fallback')).toBe(expected);
  });

  it('the id gets the first free number from 2 when it is taken', () => {
    expect(freeName('a', [])).toBe('a');
    expect(freeName('a', ['a-2'])).toBe('a');
    expect(freeName('a', ['a'])).toBe('a-2');
    expect(freeName('a', ['a', 'a-2', 'a-4'])).toBe('a-3');
  });
});
