// Loads Temporal's SDK on first use: native installations do not install it.

import type * as ActivitySdk from '@temporalio/activity';
import type * as ClientSdk from '@temporalio/client';
import type * as WorkerSdk from '@temporalio/worker';

export async function loadClientSdk(): Promise<typeof ClientSdk> {
  return import('@temporalio/client').catch(missing);
}

export async function loadActivitySdk(): Promise<typeof ActivitySdk> {
  return import('@temporalio/activity').catch(missing);
}

let installed = false;

/** Its log goes to ours and contains only problems. We handle signals ourselves. */
export async function loadWorkerSdk(): Promise<typeof WorkerSdk> {
  const sdk = await import('@temporalio/worker').catch(missing);
  if (installed) return sdk;
  installed = true;
  try {
    sdk.Runtime.install({ logger: new sdk.DefaultLogger('ERROR'), shutdownSignals: [] });
  } catch {
    // The embedding program has installed its own.
  }
  return sdk;
}

function missing(error: Error & { code?: string }): never {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new Error(
    'The Temporal driver needs the Temporal SDK, which is not installed. Install it beside Pawl: npm install @temporalio/client @temporalio/worker @temporalio/workflow @temporalio/activity @temporalio/common',
    { cause: error },
  );
}
