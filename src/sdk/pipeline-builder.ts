// Builds a pipeline (002) whose references TypeScript checks: a task can refer to what triggered the run, to tasks declared
// before it, and to the URLs of the waits that the pipeline names.

import type { Duration, PipelineDefinition } from './definition.ts';
import { type Input, plain, type Ref, refTo, type Shape } from './reference.ts';

interface TaskResult<Body> {
  status: 'success' | 'failed' | 'timeout' | 'skipped' | 'received' | 'template_error';
  status_code: number | null;
  body: Body;
  headers: Record<string, string>;
}

export interface PipelineScope<Body, Tasks extends object, Waits extends string> {
  readonly trigger: Ref<{ body: Body; headers: Record<string, string> }>;
  readonly tasks: { readonly [Name in keyof Tasks]: Ref<TaskResult<Tasks[Name]>> };
  /** Where to call back, known before the wait begins. */
  readonly wait: { readonly [Name in Waits]: Ref<{ url: string }> };
}

interface Conditions<Body, Tasks extends object, Waits extends string> {
  readonly needs?: readonly (keyof Tasks & string)[];
  readonly if?: (scope: PipelineScope<Body, Tasks, Waits>) => string;
}

interface Call {
  readonly url: string | Ref<string>;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  readonly headers?: Readonly<Record<string, string | Ref<string>>>;
  readonly body?: Input;
  readonly retries?: number;
  /** Milliseconds per try. */
  readonly timeout?: number;
}

type CallOf<Body, Tasks extends object, Waits extends string> =
  | Call
  | ((scope: PipelineScope<Body, Tasks, Waits>) => Call);

type Head<Waits extends string> = Omit<PipelineDefinition, 'tasks'> & {
  /** The tasks that wait for a webhook: earlier ones may hand out their URLs. */
  readonly waits?: readonly Waits[];
};

export function pipeline<const Waits extends string = never>(
  head: Head<Waits>,
): PipelineBuilder<unknown, object, Waits> {
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
    name: Name extends keyof Tasks ? never : Name,
    call: CallOf<Body, Tasks, Waits>,
    options: Conditions<Body, Tasks, Waits> & { readonly answers?: Shape<Answer> } = {},
  ): PipelineBuilder<Body, Tasks & Record<Name, Answer>, Waits> {
    return this.with(name, typeof call === 'function' ? call(scope()) : call, options);
  }

  sleep<Name extends string>(
    name: Name extends keyof Tasks ? never : Name,
    duration: Duration,
    options: Conditions<Body, Tasks, Waits> = {},
  ): PipelineBuilder<Body, Tasks & Record<Name, null>, Waits> {
    return this.with(name, { sleep: duration }, options);
  }

  waitForWebhook<Name extends Waits, Payload = unknown>(
    name: Name extends keyof Tasks ? never : Name,
    options: Conditions<Body, Tasks, Waits> & {
      readonly timeout?: Duration;
      readonly brings?: Shape<Payload>;
    } = {},
  ): PipelineBuilder<Body, Tasks & Record<Name, Payload>, Waits> {
    const { timeout, ...conditions } = options;
    return this.with(name, { wait_for_webhook: { timeout } }, conditions);
  }

  build(): PipelineDefinition {
    return plain({ ...this.head, tasks: this.tasks }) as PipelineDefinition;
  }

  private with<Next extends object>(
    name: string,
    what: object,
    { needs, if: holds }: Conditions<Body, Tasks, Waits>,
  ): PipelineBuilder<Body, Next, Waits> {
    const task = { needs, if: holds?.(scope()), ...what };
    return new PipelineBuilder(this.head, { ...this.tasks, [name]: task });
  }
}

/** Names stand as they are: hyphens are part of them inside `tasks.` and `wait.`. */
function scope<Body, Tasks extends object, Waits extends string>(): PipelineScope<Body, Tasks, Waits> {
  const named = (root: string) => new Proxy({} as never, { get: (_target, name) => refTo(`${root}.${String(name)}`) });
  return { trigger: refTo('trigger'), tasks: named('tasks'), wait: named('wait') };
}
