// The rows of the layer table for the dashboard: pages know parts, parts know the model, and only `data` talks to the server.

export const dashboardLayers = [
  {
    path: 'dashboard/src/model',
    job: 'the dashboard, without the browser: filters, times, timelines, what is allowed',
    imports: ['src/core', 'src/protocol'],
    packages: [],
  },
  {
    path: 'dashboard/src/component',
    job: 'what several pages show: properties in, no data of its own',
    imports: ['src/core', 'dashboard/src/model'],
    packages: ['*'],
  },
  {
    path: 'dashboard/src/graph',
    job: 'plans and machines as pictures',
    imports: ['src/core', 'dashboard/src/model', 'dashboard/src/component'],
    packages: ['*'],
  },
  {
    path: 'dashboard/src/editor',
    job: 'text, differences and forms',
    imports: ['src/core', 'dashboard/src/model', 'dashboard/src/component'],
    packages: ['*'],
  },
  {
    path: 'dashboard/src/worker',
    job: 'what would stop the page: compiling definitions',
    imports: ['src/core', 'dashboard/src/model'],
    packages: ['react', 'zod'],
  },
  {
    path: 'dashboard/src/data',
    job: 'queries, commands, session and live streams; alone uses the SDK',
    imports: ['src/core', 'src/protocol', 'src/sdk', 'dashboard/src/model'],
    packages: ['react', '@tanstack/*'],
  },
  {
    path: 'dashboard/src/shell',
    job: 'what stands around every page: navigation, palette, sign-in, banner',
    imports: ['src/protocol', 'dashboard/src/model', 'dashboard/src/component', 'dashboard/src/data'],
    packages: ['*'],
  },
  {
    path: 'dashboard/src/page/*',
    job: 'the pages; they do not know each other',
    imports: [
      ...['src/core', 'src/protocol', 'dashboard/src/model', 'dashboard/src/component', 'dashboard/src/data'],
      ...['dashboard/src/graph', 'dashboard/src/editor', 'dashboard/src/worker'],
    ],
    packages: ['*'],
  },
  {
    path: 'dashboard',
    job: 'what people see in the browser; main.tsx knows every page',
    imports: ['src/protocol', 'dashboard/src/data', 'dashboard/src/shell', 'dashboard/src/page/*'],
    packages: ['*'],
  },
];
