// The pages of the dashboard by path. The server sends the dashboard for each path, and the dashboard's router shows the page.
// One list for both, so a reload always opens the same page.

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
