// Plans from elsewhere: `https:` through the guarded client (S5), and the S3 buckets that the installation names.

import type { HttpClient } from '../action/http-client.ts';
import { s3Object } from '../artifact/s3/s3-artifacts.ts';
import type { Config } from '../config/config.ts';
import { type ReadRemotePlan, refuse } from '../workflow/plan-source.ts';
import { s3Access } from './artifacts.ts';

const TIMEOUT_MS = 30_000;

/** Rejects with an ordinary error when another try may help, and with a refusal when it will not. */
export function remotePlans({ artifact, server }: Config, http: HttpClient): ReadRemotePlan {
  return async (uri, maxBytes) => {
    const { protocol } = uri;
    if (protocol === 's3:') {
      const bucket = uri.hostname;
      if (!server.planBuckets.includes(bucket)) refuse(`bucket "${bucket}" is not among server.planBuckets`);
      const key = decodeURIComponent(uri.pathname.slice(1));
      return (await s3Object(s3Access(artifact, bucket), key, maxBytes)) ?? refuse('there is no such plan');
    }
    const { status, body } = await http.request({ url: uri, maxBytes, timeoutMs: TIMEOUT_MS });
    if (status === 200) return body;
    if (status === 429 || status >= 500) throw new Error(`the server answered ${status}`);
    return refuse(`the server answered ${status}`);
  };
}
