// Tokens of callbacks stand in what workflows render: a link in an e-mail, a field of a request. Whoever has one can complete the wait,
// so they are taken out of what is shown to others: answers to callers that may not signal, events of executions, the log. Pure.

/** As callback-token.ts makes them: an id without hyphens, a node, and 18 bytes of a keyed hash. */
const TOKEN = /(?<![0-9a-f])[0-9a-f]{32}\.[\w-]{1,400}\.[\w-]{24}(?![\w-])/g;
const HIDDEN = 'hidden-callback-token';

export const maskCallbacks = (text: string): string => text.replace(TOKEN, HIDDEN);
