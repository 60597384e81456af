// JSON pointers (RFC 6901): how a problem names its place.

export function childPointer(parent: string, key: string | number): string {
  return typeof key === 'number' ? `${parent}/${key}` : `${parent}/${escapeKey(key)}`;
}

export function pointerOf(keys: readonly (string | number)[], base = ''): string {
  return keys.reduce<string>(childPointer, base);
}

export function pointerKeys(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function escapeKey(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}
