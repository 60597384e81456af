// Builds a pipeline whose references TypeScript checks: a task can refer to the trigger, to tasks declared before it, and to the
// URLs of the named waits.

import type { Duration, EventSource, HttpTask, PipelineDefinition } from './definition.ts';
import {
  type Empty,
  type Input,
  type ListRef,
  type LoopResult,
  plain,
  type Ref,
  refTo,
  type Shape,
  type WaitResult,
} from './reference.ts';

type TaskStatus = 'success' | 'failed' | 'timeout' | 'skipped' | 'received' | 'template_error' | 'cancelled';

interface TaskResult<Body> {
  status: TaskStatus;
  status_code: number | null;
  body: Body;
  headers: Record<string, string>;
}

export interface PipelineScope<Body, Tasks extends object, Waits extends string> {
  readonly trigger: Ref<{ body: Body; headers: Record<string, string> }>;
  readonly tasks: { readonly [Name in keyof Tasks]: Ref<Tasks[Name]> };
  /** The callback URL, known before the wait begins. */
  readonly wait: { readonly [Name in Waits]: Ref<{ url: string }> };
}

type Needs<Tasks extends object> =
  | readonly (keyof Tasks & string)[]
  | { readonly first: number; readonly of: readonly (keyof Tasks & string)[]; readonly cancel_rest?: boolean };

interface Conditions<Body, Tasks extends object, Waits extends string> {
  readonly needs?: Needs<Tasks>;
  readonly if?: (scope: PipelineScope<Body, Tasks, Waits>) => string;
}

interface Call extends Pick<HttpTask, 'method' | 'retries' | 'timeout' | 'connection'> {
  readonly url: string | Ref<string>;
  readonly headers?: Readonly<Record<string, string | Ref<string>>>;
  readonly body?: Input;
}

type Of<Value, Body, Tasks extends object, Waits extends string, Bound extends object = Empty> =
  | Value
  | ((scope: PipelineScope<Body, Tasks, Waits> & Bound) => Value);

interface HttpOptions<Body, Tasks extends object, Waits extends string, Answer> extends Conditions<Body, Tasks, Waits> {
  readonly answers?: Shape<Answer>;
  /** The request that undoes this one when the run later fails, is cancelled or times out. */
  readonly undo?: Of<Call, Body, Tasks, Waits, { readonly own: Ref<TaskResult<Answer>> }>;
}

interface EachOptions<Body, Tasks extends object, Waits extends string, Item, Answer>
  extends Conditions<Body, Tasks, Waits>,
    Pick<HttpTask, 'parallel' | 'max_items' | 'tolerate'> {
  readonly items: Of<ListRef<Item>, Body, Tasks, Waits>;
  readonly call: Of<Call, Body, Tasks, Waits, { readonly item: Ref<Item>; readonly index: Ref<number> }>;
  readonly answers?: Shape<Answer>;
}

type AfterRound<Answer> = { readonly output: Ref<TaskResult<Answer>>; readonly round: Ref<number> };

interface UntilOptions<Body, Tasks extends object, Waits extends string, Answer, Collected>
  extends Conditions<Body, Tasks, Waits>,
    Pick<HttpTask, 'every' | 'max_rounds'> {
  readonly answers?: Shape<Answer>;
  readonly call: Of<
    Call,
    Body,
    Tasks,
    Waits,
    { readonly round: Ref<number>; readonly previous: Ref<TaskResult<Answer>> }
  >;
  readonly until: (scope: PipelineScope<Body, Tasks, Waits> & AfterRound<Answer>) => string;
  readonly collect?: (scope: PipelineScope<Body, Tasks, Waits> & AfterRound<Answer>) => ListRef<Collected>;
}

interface WaitOptions<Body, Tasks extends object, Waits extends string, Payload>
  extends Conditions<Body, Tasks, Waits> {
  readonly webhook?: boolean;
  readonly events?: Of<readonly (Omit<EventSource, 'key'> & { readonly key?: Input })[], Body, Tasks, Waits>;
  readonly timeout?: Duration;
  readonly on_timeout?: 'fail' | 'continue';
  readonly count?: number;
  readonly until?: (
    scope: PipelineScope<Body, Tasks, Waits> & { readonly events: Ref<{ by: string; data: Payload }[]> },
  ) => string;
  readonly brings?: Shape<Payload>;
}

interface EndOptions<Body, Tasks extends object, Waits extends string> extends Conditions<Body, Tasks, Waits> {
  readonly outputs?: Of<Readonly<Record<string, Input>>, Body, Tasks, Waits>;
  readonly error?: { readonly code: Input; readonly message?: Input };
}

type Fresh<Name extends string, Tasks extends object> = Name extends keyof Tasks ? never : Name;

type Head<Waits extends string> = Omit<PipelineDefinition, 'tasks' | 'finally' | 'outputs'> & {
  /** The tasks that wait for a webhook: earlier ones may hand out their URLs. */
  readonly waits?: readonly Waits[];
};

export function pipeline<const Waits extends string = never>(
  head: Head<Waits>,
): PipelineBuilder<unknown, Empty, Waits> {
  const { waits: _named, ...rest } = head;
  return new PipelineBuilder(rest, {});
}

export class PipelineBuilder<Body, Tasks extends object, Waits extends string> {
  private readonly head: Omit<PipelineDefinition, 'tasks'>;
  private readonly tasks: Readonly<Record<string, object>>;

  constructor(head: Omit<PipelineDefinition, 'tasks'>, tasks: Readonly<Record<string, object>>) {
    this.head = head;
    this.tasks = tasks;
  }

  /** The body of the request that starts a run. */
  trigger<Payload>(): PipelineBuilder<Payload, Tasks, Waits> {
    return new PipelineBuilder(this.head, this.tasks);
  }

  http<Name extends string, Answer = unknown>(
    name: Fresh<Name, Tasks>,
    call: Of<Call, Body, Tasks, Waits>,
    options: HttpOptions<Body, Tasks, Waits, Answer> = {},
  ): PipelineBuilder<Body, Tasks & Record<Name, TaskResult<Answer>>, Waits> {
    const undo = resolved(options.undo, { own: refTo(`tasks.${name}`) });
    return this.with(name, { ...resolved(call), undo }, options);
  }

  /** Sends a request for each item of a list. Declare `items` before fields that read `item`. */
  forEach<Name extends string, Item, Answer = unknown>(
    name: Fresh<Name, Tasks>,
    options: EachOptions<Body, Tasks, Waits, Item, Answer>,
  ): PipelineBuilder<Body, Tasks & Record<Name, LoopResult<TaskResult<Answer>> & { status: TaskStatus }>, Waits> {
    const { items, call, parallel, max_items, tolerate } = options;
    const each = { for_each: resolved(items), parallel, max_items, tolerate };
    return this.with(name, { ...resolved(call), ...each }, options);
  }

  /** Repeats a request until a condition holds. */
  repeat<Name extends string, Answer = unknown, Collected = never>(
    name: Fresh<Name, Tasks>,
    options: UntilOptions<Body, Tasks, Waits, Answer, Collected>,
  ): PipelineBuilder<
    Body,
    Tasks & Record<Name, TaskResult<Answer> & { rounds: number; collected: Collected[] }>,
    Waits
  > {
    const { call, until, every, max_rounds, collect } = options;
    const rounds = { until: resolved(until), every, max_rounds, collect: resolved(collect) };
    return this.with(name, { ...resolved(call), ...rounds }, options);
  }

  sleep<Name extends string>(
    name: Fresh<Name, Tasks>,
    duration: Duration,
    options: Conditions<Body, Tasks, Waits> = {},
  ): PipelineBuilder<Body, Tasks & Record<Name, TaskResult<null>>, Waits> {
    return this.with(name, { sleep: duration }, options);
  }

  waitForWebhook<Name extends Waits, Payload = unknown>(
    name: Fresh<Name, Tasks>,
    options: Conditions<Body, Tasks, Waits> & {
      readonly timeout?: Duration;
      readonly brings?: Shape<Payload>;
    } = {},
  ): PipelineBuilder<Body, Tasks & Record<Name, TaskResult<Payload>>, Waits> {
    return this.with(name, { wait_for_webhook: { timeout: options.timeout } }, options);
  }

  /** Waits for its webhook, an event or its timeout, whichever comes first. */
  waitFor<Name extends string, Payload = unknown>(
    name: Fresh<Name, Tasks>,
    options: WaitOptions<Body, Tasks, Waits, Payload>,
  ): PipelineBuilder<Body, Tasks & Record<Name, TaskResult<Payload> & WaitResult<Payload>>, Waits> {
    const { webhook, events, timeout, on_timeout, count, until } = options;
    const wait = { webhook, events: resolved(events), timeout, on_timeout, count, until: resolved(until) };
    return this.with(name, { wait_for: wait }, options);
  }

  /** Ends the run at once when it is reached; running tasks are cancelled. */
  end<Name extends string>(
    name: Fresh<Name, Tasks>,
    options: EndOptions<Body, Tasks, Waits> = {},
  ): PipelineBuilder<Body, Tasks, Waits> {
    const { outputs, error } = options;
    const failed = error === undefined ? {} : { status: 'failed', error };
    const end = outputs === undefined && error === undefined ? true : { outputs: resolved(outputs), ...failed };
    return this.with(name, { end }, options);
  }

  /** A request at the end of every run, whatever the outcome. Several run one after the other. */
  finally<Name extends string>(
    name: Fresh<Name, Tasks>,
    call: Of<Call, Body, Tasks, Waits>,
  ): PipelineBuilder<Body, Tasks, Waits> {
    const head = { ...this.head, finally: [...(this.head.finally ?? []), name] };
    return new PipelineBuilder(head, { ...this.tasks, [name]: resolved(call)! });
  }

  /** The outputs of the run, for the caller that started it. */
  outputs(of: Of<Readonly<Record<string, Input>>, Body, Tasks, Waits>): PipelineBuilder<Body, Tasks, Waits> {
    return new PipelineBuilder({ ...this.head, outputs: resolved(of)! }, this.tasks);
  }

  build(): PipelineDefinition {
    return plain({ ...this.head, tasks: this.tasks }) as PipelineDefinition;
  }

  private with<Next extends object>(
    name: string,
    what: object,
    { needs, if: holds }: Conditions<Body, Tasks, Waits>,
  ): PipelineBuilder<Body, Next, Waits> {
    const task = { needs, if: resolved(holds), ...what };
    return new PipelineBuilder(this.head, { ...this.tasks, [name]: task });
  }
}

/** All names that any place can read. The types say which of them a given place can read. Hyphens are part of names here. */
const SCOPE = {
  trigger: refTo('trigger'),
  tasks: named('tasks'),
  wait: named('wait'),
  item: refTo('item'),
  index: refTo('index'),
  round: refTo('round'),
  previous: refTo('previous'),
  output: refTo('output'),
  events: refTo('events'),
};

function named(root: string): object {
  return new Proxy({}, { get: (_target, name) => refTo(`${root}.${String(name)}`) });
}

function resolved<Value>(of: Value | ((scope: never) => Value) | undefined, more: object = {}): Value | undefined {
  return typeof of === 'function' ? (of as (scope: unknown) => Value)({ ...SCOPE, ...more }) : of;
}
