// Masks callback tokens. Workflows render them into e-mails and requests, and a token can complete its wait. So they are removed
// from everything that others see: answers to callers that may not signal, events of executions, the log. Pure.

/** The form that callback-token.ts makes: an id without hyphens, a node, and 18 bytes of a keyed hash. */
const TOKEN = /(?<![0-9a-f])[0-9a-f]{32}\.[\w-]{1,400}\.[\w-]{24}(?![\w-])/g;
const HIDDEN = 'hidden-callback-token';

export const maskCallbacks = (text: string): string => text.replace(TOKEN, HIDDEN);
