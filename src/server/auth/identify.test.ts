import { describe, expect, it } from 'vitest';
import { WrongProofs } from './identify.ts';

describe('wrong tokens and keys of one address', () => {
  const setup = () => {
    let now = 0;
    const wrong = new WrongProofs(() => now);
    const send = (address: string, count: number) =>
      Array.from({ length: count }, () => wrong.isTooMany(address)).filter(Boolean).length;
    return { send, pass: (ms: number) => (now += ms) };
  };

  it('the first 200 wrong tokens of an address are refused at once, and later ones are held back', () => {
    const { send } = setup();
    expect(send('a', 200)).toBe(0);
    expect(send('a', 50)).toBe(50);
  });

  it('wrong tokens of one address do not hold back another address', () => {
    const { send } = setup();
    send('a', 300);
    expect(send('b', 1)).toBe(0);
  });

  it('an address may send twenty more wrong tokens a second, up to 200', () => {
    const { send, pass } = setup();
    send('a', 300);
    pass(1_000);
    expect(send('a', 25)).toBe(5);
    pass(3_600_000);
    expect(send('a', 201)).toBe(1);
  });

  it('at 10,000 addresses, the one that was silent longest is forgotten', () => {
    const { send } = setup();
    send('a', 300);
    for (let index = 0; index < 10_000; index++) send(`other ${index}`, 1);
    expect(send('a', 1)).toBe(0);
  });
});
