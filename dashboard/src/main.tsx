// The dashboard: the only file that knows every page. Pages are loaded on first use; their paths are the server's list
// (src/protocol/page-path.ts), so a reload opens the same page.

import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import type { PagePath } from '../../src/protocol/page-path.ts';
import { queryClient } from './data/client.ts';
import { Frame } from './shell/frame.tsx';
import { Missing } from './shell/missing.tsx';
import './style.css';

const root = createRootRoute({ component: Frame, notFoundComponent: Missing });

type Loader = () => Promise<Record<string, () => React.ReactNode>>;

/** By path: where the page is, and its name there. */
const PAGES: Record<PagePath, readonly [load: Loader, name: string]> = {
  '/': [() => import('./page/overview/overview-page.tsx'), 'OverviewPage'],
  '/workflows': [() => import('./page/workflows/workflows-page.tsx'), 'WorkflowsPage'],
  '/workflows/new': [() => import('./page/new-workflow/new-workflow-page.tsx'), 'NewWorkflowPage'],
  '/workflows/:workflowId': [() => import('./page/workflow/workflow-page.tsx'), 'WorkflowPage'],
  '/lifecycles': [() => import('./page/lifecycles/lifecycles-page.tsx'), 'LifecyclesPage'],
  '/lifecycles/:env/:name': [() => import('./page/lifecycles/lifecycle-page.tsx'), 'LifecyclePage'],
  '/lifecycles/:env/:name/:externalRef': [() => import('./page/lifecycles/instance-page.tsx'), 'InstancePage'],
  '/messages': [() => import('./page/messages/messages-page.tsx'), 'MessagesPage'],
  '/messages/:ackGuid': [() => import('./page/messages/message-page.tsx'), 'MessagePage'],
  '/consumers/:code': [() => import('./page/messages/consumer-page.tsx'), 'ConsumerPage'],
  '/triggers': [() => import('./page/triggers/triggers-page.tsx'), 'TriggersPage'],
  '/triggers/:triggerId': [() => import('./page/triggers/trigger-page.tsx'), 'TriggerPage'],
  '/templates': [() => import('./page/templates/templates-page.tsx'), 'TemplatesPage'],
  '/templates/:set/:documentId': [() => import('./page/templates/document-page.tsx'), 'DocumentPage'],
  '/catalog': [() => import('./page/catalog/catalog-page.tsx'), 'CatalogPage'],
  '/catalog/:connectorId': [() => import('./page/catalog/catalog-page.tsx'), 'ConnectorPage'],
  '/operations': [() => import('./page/operations/operations-page.tsx'), 'OperationsPage'],
  '/settings': [() => import('./page/settings/settings-page.tsx'), 'SettingsPage'],
  '/sign-in': [() => import('./page/sign-in/sign-in-page.tsx'), 'SignInPage'],
  '/failures': [() => import('./page/failures/failures-page.tsx'), 'FailuresPage'],
  '/bulk/:bulkId': [() => import('./page/bulk/bulk-page.tsx'), 'BulkPage'],
  '/waits': [() => import('./page/waits/waits-page.tsx'), 'WaitsPage'],
  '/executions': [() => import('./page/executions/executions-page.tsx'), 'ExecutionsPage'],
  '/executions/:executionId': [() => import('./page/execution/execution-page.tsx'), 'ExecutionPage'],
};

const routes = Object.entries(PAGES).map(([path, [load, name]]) =>
  createRoute({
    getParentRoute: () => root,
    path: path.replaceAll(':', '$'),
    component: lazyRouteComponent(load as Parameters<typeof lazyRouteComponent>[0], name as never),
  }),
);

/** A value in the address is text; nothing is guessed to be a number or JSON. */
const plainSearch = {
  parseSearch: (text: string) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search: Record<string, unknown>) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text === '' ? '' : `?${text}`;
  },
};

const router = createRouter({
  routeTree: root.addChildren(routes),
  ...plainSearch,
  defaultPreload: 'intent',
  scrollRestoration: false,
});

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <CSPProvider {...(nonce === undefined ? {} : { nonce })}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
