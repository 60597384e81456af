import { expect, test } from 'vitest';
import { SharedLookup } from './shared-lookup.ts';

function setup() {
  const questions: { key: string; answer: (value: string) => void; fail: () => void }[] = [];
  const lookup = new SharedLookup<string>((key) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    questions.push({ key, answer: resolve, fail: () => reject(new Error('no answer')) });
    return promise;
  });
  return { questions, lookup };
}

test('callers who ask at the same time share one lookup', async () => {
  const { questions, lookup } = setup();
  const answers = [lookup.get('a'), lookup.get('a'), lookup.get('b')];
  await Promise.resolve();
  expect(questions.map(({ key }) => key)).toEqual(['a', 'b']);
  for (const { key, answer } of questions) answer(key.toUpperCase());
  expect(await Promise.all(answers)).toEqual(['A', 'A', 'B']);
});

test('a caller never gets the answer of a lookup that started before the call', async () => {
  const { questions, lookup } = setup();
  const early = lookup.get('a');
  await Promise.resolve();
  const late = [lookup.get('a'), lookup.get('a')];
  questions[0]!.answer('old');
  expect(await early).toBe('old');
  await expect.poll(() => questions.length).toBe(2);
  questions[1]!.answer('new');
  expect(await Promise.all(late)).toEqual(['new', 'new']);
});

test('a failed lookup fails for the callers who shared it and for no later one', async () => {
  const { questions, lookup } = setup();
  const first = lookup.get('a');
  await Promise.resolve();
  const second = lookup.get('a');
  questions[0]!.fail();
  await expect(first).rejects.toThrow('no answer');
  await expect.poll(() => questions.length).toBe(2);
  questions[1]!.answer('yes');
  expect(await second).toBe('yes');
});
