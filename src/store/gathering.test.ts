import { expect, it } from 'vitest';
import { handTimers, settled } from '../clock/hand-timers.testing.ts';
import { Gathering } from './gathering.ts';
import { StoreError } from './store-error.ts';

function asking(answer: (question: string) => string) {
  const batches: string[][] = [];
  const gathering = new Gathering<string, string>(handTimers(), 4, async (questions) => {
    batches.push(questions);
    return questions.map(answer);
  });
  return { batches, ask: (question: string) => gathering.ask(question) };
}

it('questions of one turn share a statement, up to the limit of a batch', async () => {
  const { batches, ask } = asking((question) => question.toUpperCase());
  expect(await Promise.all(['a', 'b', 'c', 'd', 'e'].map(ask))).toEqual(['A', 'B', 'C', 'D', 'E']);
  expect(batches).toEqual([['a', 'b', 'c', 'd'], ['e']]);
});

it('a question with bad data fails alone, and its neighbours are answered (I17)', async () => {
  const { ask } = asking((question) => {
    if (question === 'bad') throw new StoreError('data', 'a number that does not fit');
    return question.toUpperCase();
  });
  const answers = await Promise.allSettled(['a', 'bad', 'c', 'd'].map(ask));
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
});

it('a statement that fails for another reason fails all its questions, and is not repeated', async () => {
  const { batches, ask } = asking(() => {
    throw new StoreError('unknown', 'the connection broke');
  });
  const answers = await Promise.allSettled(['a', 'b'].map(ask));
  await settled();
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(batches).toHaveLength(1);
});
