// Puts delivery together: managing consumers, acknowledging, sending, and the monitor.

import type { ResolveCredential } from '../action/credential.ts';
import type { HttpClient } from '../action/http-client.ts';
import type { Timers } from '../clock/timers.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { AuditStore } from '../store/audit-port.ts';
import type { DeliveryStore } from '../store/delivery-port.ts';
import type { Hint } from '../store/hint-port.ts';
import type { LifecycleStore } from '../store/lifecycle-port.ts';
import type { ConnectionStore } from '../store/secret-port.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { NatsChannel } from './channel/nats.ts';
import { ProcessChannel } from './channel/process.ts';
import { type HandInEvent, TriggerChannel } from './channel/trigger.ts';
import { WebhookChannel } from './channel/webhook.ts';
import { type StartWorkflow, WorkflowChannel } from './channel/workflow.ts';
import { ConsumerBook } from './consumer-book.ts';
import { Consumers } from './consumers.ts';
import { Deliveries } from './deliveries.ts';
import { Dispatcher } from './dispatcher.ts';
import { DEFAULT_DELIVERY_OPTIONS, type DeliveryObserver, type DeliveryOptions } from './environment.ts';
import { Monitor } from './monitor.ts';
import { Notices, type RaisedNotice } from './notices.ts';
import { Publisher } from './publisher.ts';
import { Pulls } from './pulls.ts';
import { Reconciliation } from './reconciliation.ts';
import { remindDelays } from './resend-schedule.ts';

export interface DeliveringDeps {
  readonly store: DeliveryStore &
    Pick<LifecycleStore, 'lifecycleGeneration'> &
    Pick<ConnectionStore, 'connectionsNamed'> &
    Pick<AuditStore, 'audited'>;
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  readonly newId: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly http: HttpClient;
  readonly credential?: ResolveCredential;
  readonly observer: DeliveryObserver;
  /** Adds jitter to the retries of a bus; absent: no jitter. */
  readonly random?: () => number;
  readonly logNotice?: (notice: RaisedNotice) => void;
  /** Strict mode: buses must be listed. */
  readonly strict: boolean;
  readonly startWorkflow: StartWorkflow;
  readonly handInEvent: HandInEvent;
  readonly planOf: (row: { tenantId: string; workflowId: string; version: number }) => Promise<Plan | null>;
  readonly fireTimeouts: () => Promise<number>;
  readonly react: () => Promise<number>;
  /** Tells other processes about due deliveries; absent: they poll. */
  readonly tell?: (hint: Extract<Hint, { kind: 'deliveries' | 'notices' }>) => void;
  readonly options: Partial<DeliveryOptions> & {
    readonly retentionMs: number;
    readonly natsServers: readonly string[];
  };
  readonly monitor: { readonly intervalMs: number; readonly leaseMs: number };
}

export interface Delivering {
  readonly book: ConsumerBook;
  readonly consumers: Consumers;
  readonly deliveries: Deliveries;
  readonly notices: Notices;
  readonly processChannel: ProcessChannel;
  /** Not started. */
  readonly dispatcher: Dispatcher;
  /** Not started. */
  readonly monitor: Monitor;
  readonly publisher: Publisher;
  readonly reconciliation: Reconciliation;
}

export function createDelivering(deps: DeliveringDeps): Delivering {
  const { store, timers, observer, wallClockMs } = deps;
  const options = { ...DEFAULT_DELIVERY_OPTIONS, ...deps.options };
  const { concurrency, timeoutMs } = options;
  const listed = new Set(deps.options.natsServers);
  const allowsBus = (server: string) => !deps.strict || listed.has(server);
  const log = deps.logNotice === undefined ? {} : { log: deps.logNotice };
  const notices = new Notices({
    ...{ store, timers, wallClockMs, observer, ...log },
    written: (noticeIds) => deps.tell?.({ kind: 'notices', noticeIds }),
  });
  const book = new ConsumerBook({ store, concurrency });
  const reactionsWaiting = () => monitor.wake();
  const acknowledgements = new Acknowledgements({ store, timers, remindMs: remindDelays(options), reactionsWaiting });
  const pulls = new Pulls({ store, timers, notices, options });
  const processChannel = new ProcessChannel(() => dispatcher.wake(dispatcher.reachable()));
  const dispatcher = new Dispatcher({
    ...{ store, timers, acknowledgements, notices, observer, options, book },
    ...(deps.random === undefined ? {} : { random: deps.random }),
    channels: {
      process: processChannel,
      webhook: new WebhookChannel({ http: deps.http, credential: deps.credential, wallClockMs, timeoutMs }),
      nats: new NatsChannel({ timeoutMs, allowsBus }),
      workflow: new WorkflowChannel(deps.startWorkflow),
      trigger: new TriggerChannel(deps.handInEvent),
    },
    wakePulls: (consumerId) => pulls.wake(consumerId),
    wakeElsewhere: (consumerIds) => deps.tell?.({ kind: 'deliveries', consumerIds }),
  });
  // Wakes waiters of a consumer that was removed or resumed.
  book.onRefresh(() => [...pulls.waitedFor()].forEach((consumerId) => void pulls.wake(consumerId)));
  const wake = (consumerIds: Iterable<string>) => dispatcher.wake(consumerIds);
  const { newId, planOf, fireTimeouts, react } = deps;
  const publishing = { store, book, planOf, newId, timers, observer, wake };
  const publisher = new Publisher({ ...publishing, leaderId: newId(), options: deps.monitor });
  const monitored = { store, timers, observer, book, dispatcher, pulls, publisher, fireTimeouts, react };
  const { intervalMs } = deps.monitor;
  const monitor = new Monitor({ ...monitored, options: { intervalMs, retentionMs: deps.options.retentionMs } });
  const changed = () => book.refresh();
  const { randomBytes } = deps;
  const consumers = new Consumers({ store, changed, notices, reactionsWaiting, randomBytes, allowsBus, concurrency });
  const deliveries = new Deliveries({ store, book, acknowledgements, pulls, notices, wake });
  const reconciliation = new Reconciliation({ store, book, planOf, newId, wake });
  return { book, consumers, deliveries, notices, processChannel, dispatcher, monitor, publisher, reconciliation };
}
