// How connectors check a credential: the cheapest request that needs a valid one.

import { errorOfAnswer } from '../action/remote-failure.ts';
import type { Config } from '../config/config.ts';
import type { ConnectorCheck, ConnectorChecks } from '../connection/connection-check.ts';

const SLACK = 'https://slack.com/api/';
const MONDAY = 'https://api.monday.com/v2';
const TIMEOUT_MS = 15_000;

export function connectorChecks({ connectors }: Config): ConnectorChecks {
  const { confluenceBaseUrl } = connectors;
  return {
    slack: asking('Slack', {
      url: new URL('auth.test', withSlash(connectors.slackBaseUrl ?? SLACK)).href,
      method: 'POST',
      isFine: (answer) => answer.ok === true || String(answer.error),
    }),
    monday: asking('Monday', {
      url: connectors.mondayBaseUrl ?? MONDAY,
      method: 'POST',
      body: JSON.stringify({ query: '{ me { id } }' }),
      isFine: (answer) => answer.errors === undefined || 'it has no user',
    }),
    ...(confluenceBaseUrl === undefined
      ? {}
      : {
          confluence: asking('Confluence', {
            url: new URL('rest/api/user/current', withSlash(confluenceBaseUrl)).href,
            method: 'GET',
            isFine: () => true,
          }),
        }),
  };
}

interface Question {
  readonly url: string;
  readonly method: string;
  readonly body?: string;
  /** true, or the problem. */
  readonly isFine: (answer: Record<string, unknown>) => true | string;
}

function asking(system: string, { url, method, body, isFine }: Question): ConnectorCheck {
  return async (credential, http) => {
    credential.checkHost(new URL(url));
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const request = { url, method, headers, timeoutMs: TIMEOUT_MS, ...(body === undefined ? {} : { body }) };
    const { status, body: bytes } = await http.request(credential.authorize(request));
    const text = bytes.toString('utf8');
    if (status < 200 || status > 299) throw errorOfAnswer({ system, status, detail: text.slice(0, 200) });
    const fine = isFine(JSON.parse(text) as Record<string, unknown>);
    if (fine !== true) throw new Error(`${system} refused the credential: ${fine.slice(0, 200)}`);
  };
}

const withSlash = (url: string): string => (url.endsWith('/') ? url : `${url}/`);
