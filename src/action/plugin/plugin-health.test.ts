import { describe, expect, it } from 'vitest';
import { afterCall, compareVersions, HEALTHY, type Health, isQuarantined, lastGood } from './plugin-health.ts';

const OPTIONS = { window: 4, least: 3, threshold: 0.5, quarantineMs: 100 };
const judged = (calls: readonly boolean[], now = 0, from: Health = HEALTHY) =>
  calls.reduce((health, isWell) => afterCall(health, isWell, now, OPTIONS), from);

describe('the health of a plugin', () => {
  it('a plugin is unhealthy when half of its last calls failed, after a minimum of calls', () => {
    expect(isQuarantined(judged([false, false]), 0)).toBe(false);
    expect(isQuarantined(judged([true, false, false]), 0)).toBe(true);
    expect(isQuarantined(judged([true, true, true, false]), 0)).toBe(false);
  });

  it('calls from long ago do not count toward the health of a plugin', () => {
    expect(judged([false, true, true, true, true, true]).calls).toEqual([true, true, true, true]);
  });

  it('a plugin is healthy again after the quarantine, and its counts start anew', () => {
    const bad = judged([false, false, false]);
    expect(afterCall(bad, true, 50, OPTIONS)).toBe(bad);
    expect(isQuarantined(bad, 100)).toBe(false);
    expect(afterCall(bad, false, 100, OPTIONS)).toEqual({ calls: [false], quarantinedUntil: null });
  });
});

describe('plugin versions', () => {
  it('versions are compared by their numbers, and a release is above its previews', () => {
    const sorted = ['1.0.0-beta', '1.0.0', '1.2.0', '1.10.0', '2.0.0-a', '2.0.0-b', '2.0.0'];
    expect(sorted.toReversed().toSorted(compareVersions)).toEqual(sorted);
    expect(compareVersions('1.0.0+x', '1.0.0+y')).toBe(0);
  });

  it('a bad version falls back to the highest healthy version below it', () => {
    const versions = ['1.0.0', '1.1.0', '1.2.0', '2.0.0'];
    expect(lastGood(versions, '2.0.0', (version) => version !== '1.2.0')).toBe('1.1.0');
    expect(lastGood(versions, '1.0.0', () => true)).toBeNull();
  });
});
