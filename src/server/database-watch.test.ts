import { expect, it } from 'vitest';
import { DatabaseWatch } from './database-watch.ts';

const never = () => new Promise<never>(() => {});

function watched() {
  let answers = true;
  const changes: [boolean, number][] = [];
  const watch = new DatabaseWatch({
    ask: () => (answers ? Promise.resolve() : never()),
    silentMs: 20,
    changed: (isAway, refused) => changes.push([isAway, refused]),
  });
  return { watch, changes, silence: (isSilent: boolean) => (answers = !isSilent) };
}

it('guarded work returns its own answer and its own failure while the database answers', async () => {
  const { watch, changes } = watched();
  expect(await watch.guard(async () => 'done')).toBe('done');
  await expect(watch.guard(() => Promise.reject(new Error('its own')))).rejects.toThrow('its own');
  watch.close();
  expect(changes).toEqual([]);
});

it('waiting and new work is refused while the database is silent, and served when it answers again', async () => {
  const { watch, changes, silence } = watched();
  silence(true);
  const waiting = watch.guard(never);
  await expect(waiting).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { retryAfterSeconds: 1 } });
  await expect(watch.guard(async () => 'not even begun')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  silence(false);
  await expect.poll(() => changes).toHaveLength(2);
  expect(changes.map(([isAway]) => isAway)).toEqual([true, false]);
  expect(await watch.guard(async () => 'served')).toBe('served');
  watch.close();
});
