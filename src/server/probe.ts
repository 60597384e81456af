// A second port for probes and Prometheus: health and metrics without a token, on an address that only the inside of an
// installation can reach. Runners, which serve nothing else, are watched through it.

import { Health, type HealthDeps } from '../telemetry/health.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createApp } from './app.ts';
import { createAuth } from './auth/authenticator.ts';
import { healthRoutes } from './route/health-routes.ts';
import { PortTakenError, type RunningServer } from './server.ts';

export async function startProbe(
  parts: HealthDeps & { readonly metrics: Metrics },
  { host, port }: { readonly host: string; readonly port: number },
): Promise<RunningServer> {
  const routes = healthRoutes({ health: new Health(parts), metrics: parts.metrics });
  const app = createApp({
    routes: routes.map((route) => ({ ...route, access: 'public' })),
    auth: createAuth('strict', []),
  });
  await app.listen({ host, port }).catch(async (error: NodeJS.ErrnoException) => {
    await app.close();
    if (error.code !== 'EADDRINUSE') throw error;
    throw new PortTakenError(`port ${port} of ${host} (probe.port) is taken by another program`);
  });
  const address = app.server.address() as { port: number };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    async close() {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}
