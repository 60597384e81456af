// Parses server-sent events as they arrive.

export interface ServerSentEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

const FIELD = /^(id|event|data): ?(.*)$/;

export async function* serverSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const messages = (rest + value).split('\n\n');
      rest = messages.pop() ?? '';
      yield* messages.flatMap(eventOf);
    }
  } finally {
    // Closes the connection when the reader stops.
    await reader.cancel().catch(() => undefined);
  }
}

/** Comments only keep the connection open, so they give no event. */
function eventOf(message: string): ServerSentEvent[] {
  const fields: Record<string, string> = {};
  for (const line of message.split('\n')) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name !== undefined) fields[name] = value!;
  }
  const { id, event = 'message', data } = fields;
  return data === undefined ? [] : [{ id, event, data }];
}
