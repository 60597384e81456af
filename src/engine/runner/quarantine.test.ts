import { describe, expect, it } from 'vitest';
import { Quarantine } from './quarantine.ts';

const LANE = { tenantId: 'acme', priority: 5 };
const nobody = { lastChances: 0, all: 0 };
const others = { lastChances: 0, all: 3 };
const suspect = { lastChances: 1, all: 1 };

describe('a runner that empties itself for a suspect', () => {
  it('a runner takes every execution while none is on its last chance', () => {
    expect(new Quarantine().door(0, others)).toBe('open');
  });

  it('a runner takes nothing until it is empty, then the suspect, then nothing beside it', () => {
    const quarantine = new Quarantine();
    expect(quarantine.saw(LANE, 0)).not.toBeNull();
    expect(quarantine.saw(LANE, 1)).toBeNull();
    expect(quarantine.door(10, others)).toBe('closed');
    expect(quarantine.door(20, nobody)).toBe('alone');
    expect(quarantine.lane).toEqual(LANE);
    quarantine.took(20);
    expect(quarantine.door(30, suspect)).toBe('closed');
    expect(quarantine.door(40, nobody)).toBe('open');
  });

  it('a runner takes the suspect beside long attempts, so that the suspect does not wait forever', () => {
    const quarantine = new Quarantine();
    const waits = quarantine.saw(LANE, 0)!;
    expect(quarantine.door(waits - 1, others)).toBe('closed');
    expect(quarantine.door(waits, others)).toBe('alone');
  });

  it('a runner takes others again when the suspect runs long, and the next suspect after a pause', () => {
    const quarantine = new Quarantine();
    quarantine.saw(LANE, 0);
    const alone = quarantine.took(0);
    expect(quarantine.door(alone, suspect)).toBe('rest');
    expect(quarantine.door(alone + 1, nobody)).toBe('rest');
    expect(quarantine.saw(LANE, alone + 1)).toBeNull();
    expect(quarantine.door(alone * 3, nobody)).toBe('open');
    expect(quarantine.saw(LANE, alone * 3)).not.toBeNull();
  });
});
