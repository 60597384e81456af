// A trigger in a few words.

export interface TriggerLike {
  readonly triggerType: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly webhookUrl?: string | undefined;
}

export function triggerText({ triggerType, config, webhookUrl }: TriggerLike): string {
  switch (triggerType) {
    case 'Schedule':
      return `${String(config.cron ?? '')}${config.timezone === undefined ? '' : ` (${String(config.timezone)})`}`;
    case 'Event':
      return `event ${String(config.eventType ?? '')}`;
    case 'Webhook':
      return webhookUrl ?? 'webhook';
    default:
      return 'by hand';
  }
}
