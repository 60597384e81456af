import { describe, expect, it } from 'vitest';
import { Stop } from './stop.ts';

describe('a stop', () => {
  it('a stop is announced once, with its reason, to all listeners', () => {
    const stop = new Stop();
    const heard: string[] = [];
    const left = () => heard.push('left');
    stop.addEventListener('abort', () => heard.push('first'));
    stop.addEventListener('abort', left);
    stop.addEventListener('abort', () => heard.push('second'));
    stop.removeEventListener('abort', left);
    expect(stop.aborted).toBe(false);
    stop.abort(new Error('enough'));
    stop.abort(new Error('again'));
    expect(stop).toMatchObject({ aborted: true, reason: new Error('enough') });
    expect(heard).toEqual(['first', 'second']);
  });

  it('a stop without listeners is allowed', () => {
    const stop = new Stop();
    stop.removeEventListener('abort', () => {});
    stop.abort();
    expect(stop).toMatchObject({ aborted: true, reason: undefined });
  });
});
