// One page of a browser: go somewhere, evaluate something there, wait until something holds. What goes wrong on the page (errors,
// refused scripts) is kept.

import { setTimeout as wait } from 'node:timers/promises';

const PATIENCE_MS = 50_000;
const LOOK_MS = 50;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly exceptionDetails?: Thrown;
    readonly entry?: { level: string; text: string; url?: string };
  };
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

interface Thrown {
  readonly text: string;
  readonly exception?: { readonly description?: string };
}

export class Page {
  /** Whatever the browser complained about. */
  readonly complaints: string[] = [];
  private readonly socket: WebSocket;
  private sessionId: string | undefined;
  private lastId = 0;
  private readonly waiting = new Map<number, (message: Message) => void>();
  private loaded = Promise.withResolvers<void>();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.addEventListener('message', ({ data }) => this.heard(JSON.parse(String(data)) as Message));
  }

  static async open(address: string): Promise<Page> {
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error(`no connection to ${address}`)));
    });
    const page = new Page(socket);
    const { targetId } = await page.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await page.send('Target.attachToTarget', { targetId, flatten: true });
    page.sessionId = sessionId as string;
    for (const domain of ['Page', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
    return page;
  }

  async go(url: string): Promise<void> {
    this.loaded = Promise.withResolvers<void>();
    await this.send('Page.navigate', { url });
    await this.loaded.promise;
  }

  /** The value of an expression on the page; a promise is awaited. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const answer = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    const thrown = answer.exceptionDetails as Thrown | undefined;
    if (thrown !== undefined) throw new Error(`${expression}: ${thrown.exception?.description ?? thrown.text}`);
    return (answer.result as { value: Value }).value;
  }

  async until(expression: string): Promise<void> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (!(await this.evaluate<boolean>(`Boolean(${expression})`))) {
      if (performance.now() > giveUpAt) {
        const text = await this.evaluate<string>('document.body.innerText');
        throw new Error(`never came true: ${expression}\nThe page says:\n${text}`);
      }
      await wait(LOOK_MS);
    }
  }

  /** As a person does: the field has the focus, and the text arrives as input. */
  async type(selector: string, text: string): Promise<void> {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).select()`);
    await this.send('Input.insertText', { text });
  }

  async click(selector: string): Promise<void> {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
  }

  async text(selector: string): Promise<string> {
    return this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`);
  }

  close(): void {
    this.socket.close();
  }

  private send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = ++this.lastId;
    const { sessionId } = this;
    this.socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result ?? {});
        else reject(new Error(`${method}: ${error.message}`));
      });
    });
  }

  private heard(message: Message): void {
    const { id, method, params } = message;
    if (id !== undefined) {
      this.waiting.get(id)?.(message);
      this.waiting.delete(id);
    }
    if (method === 'Page.loadEventFired') this.loaded.resolve();
    if (method === 'Runtime.exceptionThrown') this.complaints.push(params?.exceptionDetails?.text ?? method);
    const entry = params?.entry;
    if (method === 'Log.entryAdded' && entry?.level === 'error')
      this.complaints.push(`${entry.text} ${entry.url ?? ''}`);
  }
}
