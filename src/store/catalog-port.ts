// The catalog of connectors and actions: registrations, and an operator's settings.

import type { JsonText, Timestamp } from './port.ts';

export interface CatalogStore {
  connectorList(): Promise<ConnectorEntry[]>;
  connectorGet(params: { id: string }): Promise<ConnectorEntry | null>;
  actionList(params: { connectorId?: string; category?: string; search?: string }): Promise<ActionEntry[]>;
  /** Actions that are disabled, by themselves or by their connector, or deprecated. */
  actionsNoticed(): Promise<ActionNotice[]>;
  actionGet(params: { id: string }): Promise<ActionEntry | null>;
  /** Undefined fields stay as they are. false: no such row. */
  connectorUpdate(params: { id: string; isEnabled?: boolean | undefined }): Promise<boolean>;
  actionUpdate(params: {
    id: string;
    isEnabled?: boolean | undefined;
    deprecationNotice?: string | null | undefined;
  }): Promise<boolean>;
}

export interface ActionNotice {
  id: string;
  isEnabled: boolean;
  deprecationNotice: string | null;
}

export type ConnectorEntry = ConnectorRow & { isEnabled: boolean; createdAt: Timestamp };
export type ActionEntry = ActionRow & { isEnabled: boolean; createdAt: Timestamp };

/** As it is registered. */
export interface ConnectorRow {
  id: string;
  displayName: string;
  description: string;
  iconUrl: string | null;
  documentationUrl: string | null;
  configSchema: JsonText | null;
  requiresAuth: boolean;
  authType: string | null;
  version: string;
  capabilities: string[];
}

export interface ActionRow {
  id: string;
  displayName: string;
  description: string;
  category: string;
  connectorId: string;
  parameterSchema: JsonText;
  outputSchema: JsonText;
  version: string;
  deprecationNotice: string | null;
  tags: string[];
  /** The error codes of the action; null: it does not declare any. */
  codes: string[] | null;
}
