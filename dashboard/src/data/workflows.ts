// Workflows of every format: lists, one of them with its versions, and what may be done with it.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type WorkflowItem, workflowItem } from '../model/workflow-item.ts';
import { pawl } from './client.ts';
import { useBeat } from './live.ts';

const MANY = 200;
const EVERY_MS = 15_000;

export interface WorkflowListFilter {
  readonly search?: string | undefined;
  readonly status?: string | undefined;
  readonly format?: string | undefined;
}

export function useWorkflowList(filter: WorkflowListFilter) {
  return useQuery({
    queryKey: ['workflows', filter],
    queryFn: async () => {
      const page = await pawl.workflows.list({ ...(filter as object), limit: MANY, include: ['stats'] } as never);
      return { items: page.data.map(workflowItem), hasMore: page.nextCursor !== undefined };
    },
    placeholderData: keepPreviousData,
    refetchInterval: useBeat(EVERY_MS),
  });
}

export function useWorkflowNames(): readonly string[] {
  const { data } = useQuery({
    queryKey: ['workflow-names'],
    queryFn: async () =>
      (await pawl.workflows.list({ limit: MANY })).data.map((each) => workflowItem(each).id).toSorted(),
    staleTime: 60_000,
  });
  return data ?? [];
}

export function useWorkflow(id: string, version?: number | 'draft') {
  return useQuery({
    queryKey: ['workflow', id, version ?? 'current'],
    queryFn: async (): Promise<WorkflowItem> =>
      workflowItem(await pawl.workflows.get(id, version === undefined ? {} : { version })),
  });
}

export function useVersions(id: string) {
  return useQuery({
    queryKey: ['workflow', id, 'versions'],
    queryFn: async () => (await pawl.workflows.versions(id, { limit: MANY })).data,
  });
}

export function useActionTypes(): readonly string[] | null {
  return useActions()?.map(({ id }) => id) ?? null;
}

export function useActions() {
  const { data } = useQuery({
    queryKey: ['actions'],
    queryFn: async () => {
      const all = [];
      for (let cursor: string | undefined; ; ) {
        const page = await pawl.catalog.actions({ limit: MANY, ...(cursor === undefined ? {} : { cursor }) });
        all.push(...page.data);
        if (page.nextCursor === undefined) return all;
        cursor = page.nextCursor;
      }
    },
    staleTime: 300_000,
  });
  return data;
}

export const setWorkflowEnabled = (id: string, isEnabled: boolean) => pawl.workflows.setEnabled(id, isEnabled);
export const archiveWorkflow = (id: string) => pawl.workflows.archive(id);
export const reactivateWorkflow = (id: string) => pawl.workflows.reactivate(id);
export const publishWorkflow = (id: string) => pawl.workflows.publish(id);
export const dropDraft = (id: string) => pawl.workflows.dropDraft(id);
export const deleteWorkflow = (id: string) => pawl.workflows.delete(id);

/** Opens a draft first if there is none. A pipeline has no draft: saving creates a version. */
export async function saveDefinition(
  item: Pick<WorkflowItem, 'id' | 'format' | 'status' | 'hasDraft'> | null,
  definition: object,
  ifMatch?: string,
): Promise<void> {
  if (item?.format === 'pipeline') {
    const { name: _, ...rest } = definition as { name: string };
    await pawl.workflows.update(item.id, rest as never);
    return;
  }
  if (item !== null && item.status === 'Active' && !item.hasDraft) await pawl.workflows.openDraft(item.id);
  await pawl.workflows.create(definition as never, ifMatch === undefined ? {} : { ifMatch });
}

/** Its id as people know it. */
export async function createWorkflow(definition: object): Promise<string> {
  return workflowItem(await pawl.workflows.create(definition as never)).id;
}

export const startWorkflow = async (id: string, trigger: unknown, requestId: string) =>
  (await pawl.workflows.execute(id, { trigger: trigger as never, requestId })).executionId;

export const startPlan = async (plan: object) => (await pawl.plans.start({ plan } as never)).runId;

export function useWorkflowTemplates() {
  return useQuery({
    queryKey: ['workflow-templates'],
    queryFn: async () => (await pawl.workflowTemplates.list({ limit: 100 })).data,
  });
}

export function useWorkflowTemplate(id: string | undefined) {
  return useQuery({
    queryKey: ['workflow-template', id],
    queryFn: () => pawl.workflowTemplates.get(id!),
    enabled: id !== undefined,
  });
}

export const instantiateTemplate = (id: string, request: object) =>
  pawl.workflowTemplates.instantiate(id, request as never);

/** Publishing an old version's definition makes it current again: no new version is created. */
export async function rollBack(item: WorkflowItem, version: number): Promise<void> {
  const { definition } = workflowItem(await pawl.workflows.get(item.id, { version }));
  if (definition === undefined) throw new Error(`version ${version} has no definition`);
  await saveDefinition(item, definition);
  if (item.format !== 'pipeline') await pawl.workflows.publish(item.id);
}
