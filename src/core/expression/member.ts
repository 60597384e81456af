// Reading a member: own properties only, so nothing of a prototype can be reached (S3, S8). Writing one into a result we make:
// `__proto__` becomes an ordinary own property, as in JSON.parse.

/** `undefined` when the value has no such own property. The caller has dealt with null and undefined. */
export function readMember(value: unknown, key: string | number): unknown {
  if (typeof value === 'object')
    return Object.hasOwn(value!, key) ? (value as Record<string | number, unknown>)[key] : undefined;
  if (typeof value !== 'string') return undefined;
  if (key === 'length') return value.length;
  return Object.hasOwn(Object(value), key) ? value[key as number] : undefined;
}

export function writeMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
