// The search attributes of a run in Temporal. All are of type Keyword, of which a namespace has ten.

export const SEARCH_ATTRIBUTES = [
  'tenantId',
  'projectId',
  'environmentId',
  'runId',
  'repoSha',
  'planId',
  'planVersion',
] as const;
