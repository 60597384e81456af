// The pages of the dashboard, by their paths. The server sends the dashboard for each of them and the dashboard's router shows
// the page: one list, so that a reload always opens what was shown.

export const PAGE_PATHS = [
  '/',
  '/executions',
  '/executions/:executionId',
  '/failures',
  '/waits',
  '/bulk/:bulkId',
  '/workflows',
  '/workflows/new',
  '/workflows/:workflowId',
  '/lifecycles',
  '/lifecycles/:env/:name',
  '/lifecycles/:env/:name/:externalRef',
  '/messages',
  '/messages/:ackGuid',
  '/consumers/:code',
  '/triggers',
  '/triggers/:triggerId',
  '/templates',
  '/templates/:set/:documentId',
  '/catalog',
  '/catalog/:connectorId',
  '/operations',
  '/settings',
  '/sign-in',
] as const;

export type PagePath = (typeof PAGE_PATHS)[number];
