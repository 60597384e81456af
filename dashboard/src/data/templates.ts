// Document templates: sets, documents, versions, and what they render to.

import { useQuery } from '@tanstack/react-query';
import { pawl } from './client.ts';

export function useDocuments() {
  return useQuery({
    queryKey: ['documents'],
    queryFn: async () => (await pawl.documents.list({ limit: 200 })).data,
  });
}

export function useDocument(set: string, id: string) {
  return useQuery({ queryKey: ['document', set, id], queryFn: () => pawl.documents.get({ set, id }) });
}

export function useDocumentVersions(set: string, id: string) {
  return useQuery({
    queryKey: ['document', set, id, 'versions'],
    queryFn: async () => (await pawl.documents.versions(set, id, { limit: 100 })).data,
  });
}

export const renderDocument = (set: string, id: string, answers: unknown) =>
  pawl.documents.render({ set, id }, { answers } as never);

/** The first version of a document; its set is made where there is none. */
export async function createDocument(set: string, id: string, displayName: string): Promise<void> {
  const sets = (await pawl.documents.sets({ limit: 200 })).data;
  if (!sets.some((each) => each.id === set)) await pawl.documents.putSet(set, { displayName: set, team: set });
  const bodyTemplate = 'Dear {{ answers.name }},\n';
  await pawl.documents.add(set, id, { displayName, fields: [{ key: 'name', label: 'Name' }], bodyTemplate });
}

export const addDocumentVersion = (set: string, id: string, request: object) =>
  pawl.documents.add(set, id, request as never);
