// email.send: one message over SMTP. Its Message-ID is made from the idempotency key, so a message that a retry sends again is
// recognisably the same (I7). A message that this node already recorded is not sent again.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import { type ActionDefinition, defineAction } from '../action.ts';
import { REMOTE_CODES } from '../remote-failure.ts';
import { type EmailOptions, mailServer } from './server.ts';
import { deliver } from './transport.ts';

const oneLine = (text: string): boolean => !/[\r\n]/.test(text);
const address = z.string().min(3).max(500).refine(oneLine, 'an address is one line');
const addresses = z.union([address, z.array(address).min(1).max(500)]);

const params = z
  .strictObject({
    to: addresses,
    cc: addresses.optional(),
    bcc: addresses.optional(),
    subject: z.string().max(998).refine(oneLine, 'a subject is one line'),
    text: z.string().optional(),
    html: z.string().optional(),
    from: address.optional(),
    replyTo: address.optional(),
  })
  .refine(({ text, html }) => text !== undefined || html !== undefined, 'give text, html or both');

export function sendEmail(options: EmailOptions): ActionDefinition {
  return defineAction({
    type: 'email.send',
    version: '1.0.0',
    connector: 'email',
    codes: ['CONNECTOR_NOT_CONFIGURED', ...REMOTE_CODES],
    category: 'Communication',
    displayName: 'Send an e-mail',
    description: 'Sends an e-mail over SMTP.',
    tags: ['email', 'smtp', 'notification'],
    params,
    outputs: z.object({ messageId: z.string(), accepted: z.array(z.string()), rejected: z.array(z.string()) }),
    async run(message, context) {
      const server = mailServer(options, context);
      const from = message.from ?? options.from ?? noSender();
      const messageId = messageIdFrom(context.idempotencyKey, from);
      const link = { system: 'email', resourceType: 'message', resourceId: messageId };
      const known = await context.findResource(link);
      const isSent = known?.executionId === context.executionId && known.nodeId === context.nodeId;
      const delivered = isSent
        ? { accepted: [message.to, message.cc ?? [], message.bcc ?? []].flat(), rejected: [] }
        : await deliver(server, { ...message, from, messageId }, context);
      return { outputs: { messageId, ...delivered }, resourceLinks: [link] };
    },
  });
}

function noSender(): never {
  const what = 'give parameters.from, or set PAWL_CONNECTORS_EMAIL_FROM';
  throw new TerminalError('CONNECTOR_NOT_CONFIGURED', `The message has no sender: ${what}`);
}

/** In the sender's domain, as mail systems expect. */
function messageIdFrom(idempotencyKey: string, from: string): string {
  const domain = /@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
  return `<${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 32)}@${domain}>`;
}
