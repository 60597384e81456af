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

  it('are refused at once for the first 200, and held back after that', () => {
    const { send } = setup();
    expect(send('a', 200)).toBe(0);
    expect(send('a', 50)).toBe(50);
  });

  it('do not hold back those of another address', () => {
    const { send } = setup();
    send('a', 300);
    expect(send('b', 1)).toBe(0);
  });

  it('have twenty more a second, and never more than 200', () => {
    const { send, pass } = setup();
    send('a', 300);
    pass(1_000);
    expect(send('a', 25)).toBe(5);
    pass(3_600_000);
    expect(send('a', 201)).toBe(1);
  });

  it('are forgotten for the address that was silent longest when there are 10,000 addresses', () => {
    const { send } = setup();
    send('a', 300);
    for (let index = 0; index < 10_000; index++) send(`other ${index}`, 1);
    expect(send('a', 1)).toBe(0);
  });
});
