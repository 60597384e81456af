// AWS Signature Version 4 for requests of `http` connections. Pure but for the hash. The test uses AWS's own examples.

import { createHash, createHmac } from 'node:crypto';

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
  readonly service: string;
}

export interface SignableRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** The headers to add. */
export function signAws(request: SignableRequest, key: SigningKey, at: Date): Record<string, string> {
  const time = at.toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const added: Record<string, string> = {
    'x-amz-date': time,
    ...(key.service === 's3' ? { 'x-amz-content-sha256': sha256(request.body) } : {}),
    ...(key.sessionToken === undefined ? {} : { 'x-amz-security-token': key.sessionToken }),
  };
  const given = Object.entries(request.headers).filter(([name]) => SIGNED.test(name.toLowerCase()));
  const headers = new Map<string, string>([['host', request.url.host]]);
  for (const [name, value] of [...given, ...Object.entries(added)]) {
    headers.set(name.toLowerCase(), value.trim().replaceAll(/ +/g, ' '));
  }
  const names = [...headers.keys()].sort();
  const canonical = [
    request.method,
    canonicalPath(request.url.pathname, key.service),
    canonicalQuery(request.url.searchParams),
    ...names.map((name) => `${name}:${headers.get(name)}`),
    '',
    names.join(';'),
    sha256(request.body),
  ].join('\n');
  const place = `${day}/${key.region}/${key.service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, place, sha256(canonical)].join('\n');
  const signature = hmac(signingKey(key, day), toSign).toString('hex');
  const credential = `Credential=${key.accessKeyId}/${place}`;
  return {
    ...added,
    authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  };
}

/** Headers that a proxy may change are not signed. */
const SIGNED = /^(content-type|content-md5|x-amz-.*)$/;

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

function signingKey({ secretAccessKey, region, service }: SigningKey, day: string): Buffer {
  return hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, day), region), service), 'aws4_request');
}

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** Every service but S3 wants the path encoded twice. */
function canonicalPath(path: string, service: string): string {
  return service === 's3' ? path : path.split('/').map(encode).join('/');
}

function canonicalQuery(parameters: URLSearchParams): string {
  const pairs = [...parameters].map(([name, value]) => [encode(name), encode(value)] as const);
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  pairs.sort(([a, av], [b, bv]) => compare(a, b) || compare(av, bv));
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}
