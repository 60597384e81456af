// The application, over HTTP: submits instances, waits until their hook has let them pass, and closes them. It asks again, at any
// process, until it gets an answer; a request keeps its id.

import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { Violation } from '../violation.ts';

const ENV = 'chaos';
const MACHINE = 'loan';
export const TIMEOUT_MS = 700;
const ASK_AGAIN_MS = 100;
const LOOK_EVERY_MS = 100;

const remind = { timeout: { after: `${TIMEOUT_MS}ms`, event: 'remind', mode: 'repeat', max: 2 } };
const definition = {
  env: ENV,
  name: MACHINE,
  initial: 'draft',
  states: { draft: {}, checking: {}, passed: remind, closed: { final: true } },
  events: { submit: {}, pass: {}, remind: {}, close: {} },
  transitions: [
    { from: 'draft', on: 'submit', to: 'checking' },
    { from: 'checking', on: 'pass', to: 'passed' },
    { from: 'passed', on: 'remind', to: 'passed' },
    { from: 'passed', on: 'close', to: 'closed' },
  ],
};

export class InstanceLoad {
  readonly violations: Violation[] = [];
  /** Instances whose submission was answered. */
  readonly submitted = new Set<string>();
  asksRepeated = 0;
  private readonly ports: readonly number[];
  private readonly random: Random;
  private readonly alive = new Set<Promise<void>>();

  constructor(ports: readonly number[], random: Random) {
    this.ports = ports;
    this.random = random;
  }

  async prepare(consumers: readonly { readonly code: string; readonly url: string }[]): Promise<void> {
    const subscriptions = [{ kinds: ['transition'] }];
    for (const { code, url } of consumers)
      await this.insist('/consumers', { code, kind: 'webhook', url, subscriptions });
    const onProcessed = { succeeded: 'pass' };
    const routes = [{ hook: 'verify', consumers: consumers.map(({ code }) => code), onProcessed }];
    const policies = {
      env: ENV,
      definition: MACHINE,
      policies: [{ name: 'check', on: { transition: { event: 'submit' } }, routes }],
    };
    await this.insist('/lifecycles', { definition, policies });
  }

  async runFor(ms: number, perSecond: number): Promise<void> {
    const endsAt = Date.now() + ms;
    for (let number = 0; Date.now() < endsAt; number++) {
      const life = this.live(`L-${number}`).finally(() => this.alive.delete(life));
      this.alive.add(life);
      await delay(1_000 / perSecond);
    }
  }

  /** False: some instances were not done in time. */
  async settled(withinMs: number): Promise<boolean> {
    const giveUpAt = Date.now() + withinMs;
    while (this.alive.size > 0 && Date.now() < giveUpAt) await delay(LOOK_EVERY_MS);
    return this.alive.size === 0;
  }

  private async live(externalRef: string): Promise<void> {
    await this.trigger(externalRef, 'submit');
    this.submitted.add(externalRef);
    while ((await this.stateOf(externalRef)) !== 'passed') await delay(LOOK_EVERY_MS);
    await delay(this.random.between(0, 3 * TIMEOUT_MS));
    await this.trigger(externalRef, 'close');
  }

  private async trigger(externalRef: string, event: string): Promise<void> {
    const asked = { externalRef, event, requestId: `${event}-${externalRef}` };
    const { status, body } = await this.insist(`/lifecycles/${ENV}/${MACHINE}/trigger`, asked);
    if (status === 200) return;
    this.violations.push({
      invariant: 'I1',
      executionId: null,
      what: `${event} of ${externalRef} was answered ${status} ${body}`,
    });
  }

  private async stateOf(externalRef: string): Promise<string | null> {
    const { status, body } = await this.insist(`/lifecycles/${ENV}/${MACHINE}/instances/${externalRef}`);
    return status === 200 ? (JSON.parse(body) as { state: string }).state : null;
  }

  /** Asks again after a failure of the server or of the connection; every other answer counts. */
  private async insist(path: string, body?: object): Promise<{ status: number; body: string }> {
    for (;;) {
      const answer = await this.ask(path, body);
      if (answer !== null) return answer;
      this.asksRepeated++;
      await delay(ASK_AGAIN_MS);
    }
  }

  private async ask(path: string, body?: object): Promise<{ status: number; body: string } | null> {
    const url = `http://127.0.0.1:${this.random.pick(this.ports)}/api/v1${path}`;
    const sent =
      body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    try {
      const response = await fetch(url, { ...sent, signal: AbortSignal.timeout(10_000) });
      const text = await response.text();
      return response.status >= 500 ? null : { status: response.status, body: text };
    } catch {
      return null;
    }
  }
}
