// The words of each format for a node and its remedies: a problem speaks the language of its file.

import type { Format } from '../plan/plan.ts';

interface Wording {
  readonly node: string;
  readonly leadsToItself: string;
  readonly runOnce: string;
  readonly breakCycle: string;
  readonly makeSmaller: string;
}

export const WORDING: Readonly<Record<Format, Wording>> = {
  graph: {
    node: 'node',
    leadsToItself: 'leads to itself',
    runOnce: 'a node runs once; use a retry policy to try it again',
    breakCycle: 'remove one of its edges',
    makeSmaller: 'move a part into a subworkflow',
  },
  pipeline: {
    node: 'task',
    leadsToItself: 'needs itself',
    runOnce: 'a task runs once; use `retries` to try it again',
    breakCycle: 'remove one of their `needs`',
    makeSmaller: 'move a part into a pipeline of its own, and trigger it from a task',
  },
  plan: {
    node: 'step',
    leadsToItself: 'depends on itself',
    runOnce: 'a step runs once; use a retry policy to try it again',
    breakCycle: 'remove one of their `dependsOn`',
    makeSmaller: 'move a part into a plan of its own',
  },
};
