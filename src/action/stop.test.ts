import { describe, expect, it } from 'vitest';
import { Stop } from './stop.ts';

describe('a stop', () => {
  it('is told once, with its reason, to everybody who still listens', () => {
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

  it('may find nobody', () => {
    const stop = new Stop();
    stop.removeEventListener('abort', () => {});
    stop.abort();
    expect(stop).toMatchObject({ aborted: true, reason: undefined });
  });
});
