// A connector groups actions that share one credential. Actions name theirs by id; a connector that nobody described is
// described from its id, so that a user's first action needs one definition and not two.

export interface ConnectorDefinition {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  readonly version: string;
  /** How its credential is presented; absent = it needs none. */
  readonly authType?: 'Bearer' | 'ApiKey' | 'Basic' | 'OAuth2';
}

export function connectorFromId(id: string): ConnectorDefinition {
  const displayName = id
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
  return { id, displayName, description: `Actions of ${displayName}.`, version: '1.0.0' };
}
