// Explains why a file could not be read.

export function reasonUnread(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a directory';
  return code === 'EACCES' || code === 'EPERM' ? 'permission denied' : `it cannot be read (${code})`;
}
