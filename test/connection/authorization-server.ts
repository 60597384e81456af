// A real authorization server (oidc-provider): clients that prove themselves with a secret, people who sign in, one-use refresh
// tokens, and revocation, which ends all of them. The people are a browser that follows redirects and keeps cookies.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

export interface AuthorizationServer {
  readonly url: string;
  readonly tokenUrl: string;
  readonly authorizationUrl: string;
  /** The grant type of every token request so far. */
  readonly grants: readonly string[];
  /** Signs in at this address as the owner of the account. Returns the page where the browser ends up. */
  signIn(authorizationUrl: string): Promise<Response>;
  /** Ends everything that was granted to this client. */
  revokeAll(): Promise<void>;
  close(): Promise<void>;
}

export const CLIENT = { clientId: 'pawl', clientSecret: 'canary-client-secret' };
const ACCESS_TOKEN_S = 600;

export async function openAuthorizationServer(redirectUri: string): Promise<AuthorizationServer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const grants: string[] = [];
  const grantIds = new Set<string>();
  const provider = new Provider(url, configurationFor(redirectUri));
  provider.use(async (context, next) => {
    await next();
    if (context.path === '/token' && context.oidc?.params?.grant_type !== undefined) {
      grants.push(String(context.oidc.params.grant_type));
      const grantId = context.oidc.entities.Grant?.jti;
      if (grantId !== undefined) grantIds.add(grantId);
    }
  });
  server.on('request', provider.callback());
  return {
    url,
    tokenUrl: `${url}/token`,
    authorizationUrl: `${url}/auth`,
    grants,
    signIn: (authorizationUrl) => browse(authorizationUrl),
    async revokeAll() {
      for (const grantId of grantIds) {
        for (const kind of [provider.AccessToken, provider.RefreshToken]) await kind.revokeByGrantId(grantId);
        await (await provider.Grant.find(grantId))?.destroy();
      }
    },
    close: () => closeServer(server),
  };
}

function configurationFor(redirectUri: string): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        response_types: ['code'],
      },
    ],
    cookies: { keys: ['a key of the tests'] },
    scopes: ['openid', 'offline_access', 'api'],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      revocation: { enabled: true },
    },
    // Each use gives a new refresh token, and a second use of the old one ends the grant.
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    ttl: {
      AccessToken: ACCESS_TOKEN_S,
      ClientCredentials: ACCESS_TOKEN_S,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 3_600,
    },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    pkce: { required: () => true },
  };
}

/** Fills in the forms of the development pages (sign in, then consent) and follows their redirects. */
async function browse(start: string): Promise<Response> {
  const cookies = new Map<string, string>();
  let request: { url: string; body?: URLSearchParams } = { url: start };
  for (let step = 0; step < 20; step++) {
    const answer = await fetch(request.url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(request.body === undefined ? {} : { method: 'POST', body: request.body }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      cookies.set(name!, value!);
    }
    const location = answer.headers.get('location');
    if (location !== null) {
      request = { url: new URL(location, request.url).href };
      continue;
    }
    if (!answer.headers.get('content-type')?.includes('html')) return answer;
    const page = await answer.text();
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? 'login';
    if (action === undefined) throw new Error(`no form on the page: ${page.slice(0, 500)}`);
    const body = new URLSearchParams({ prompt, login: 'ada', password: 'any' });
    request = { url: new URL(action, request.url).href, body };
  }
  throw new Error('the browser was sent around in circles');
}

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });
