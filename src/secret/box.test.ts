import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Box, readKeys, SealError } from './box.ts';

const key = (id: string) => ({ id, key: randomBytes(32) });

describe('a secret box', () => {
  it('a box returns the text for the same place and for no other', () => {
    const box = new Box([key('a')]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (text, place, other) => {
        const whole = text.toWellFormed();
        const sealed = box.seal(whole, place);
        expect(box.open(sealed, place)).toBe(whole);
        expect(box.openText(box.sealText(whole, place), place)).toBe(whole);
        if (other !== place) expect(() => box.open(sealed, other)).toThrow(SealError);
      }),
    );
  });

  it('a box does not open bytes with one changed bit', () => {
    const box = new Box([key('a')]);
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 0, max: 7 }), (where, bit) => {
        const { keyId, bytes } = box.seal('secret', 'place');
        bytes[where % bytes.length]! ^= 1 << bit;
        expect(() => box.open({ keyId, bytes }, 'place')).toThrow(SealError);
      }),
    );
  });

  it('a box opens text sealed with an older key, and seals with the first key', () => {
    const [older, newer] = [key('older'), key('newer')];
    const sealed = new Box([older]).seal('secret', 'place');
    const both = new Box([newer, older]);
    expect(both.open(sealed, 'place')).toBe('secret');
    expect(both.seal('secret', 'place').keyId).toBe('newer');
    expect(() => new Box([newer]).open(sealed, 'place')).toThrow(/"older", which is not among secret.keys/);
  });

  it('a box never seals the same text to the same bytes', () => {
    const box = new Box([key('a')]);
    expect(box.seal('secret', 'place').bytes.equals(box.seal('secret', 'place').bytes)).toBe(false);
  });
});

describe('secret keys', () => {
  it('keys are read from lines, in base64 or hex', () => {
    const bytes = randomBytes(32);
    const read = readKeys(['# a comment', '', `2026=${bytes.toString('base64')}`, `2025=${bytes.toString('hex')}`]);
    expect(read.map(({ id, key: value }) => [id, value.equals(bytes)])).toEqual([
      ['2026', true],
      ['2025', true],
    ]);
  });

  it.each(['short=YWJj', 'no key at all', '=YWJj', `bad id=${randomBytes(32).toString('base64')}`])(
    'an invalid key is refused, and the message does not contain it: %s',
    (line) => {
      expect(() => readKeys([line])).toThrow(/^key 1 of secret.keys must be a name, "=" and 32 bytes/);
    },
  );
});
