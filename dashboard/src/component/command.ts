// A command to the server by a click: confirmed when it is accepted, explained when it is refused, and the affected queries are
// refreshed.

import { useQueryClient } from '@tanstack/react-query';
import { complain, say } from './toast.tsx';

export type Command = <Result>(what: string, act: () => Promise<Result>) => Promise<Result | undefined>;

/** `keys`: the queries that are out of date afterwards. */
export function useCommand(...keys: readonly unknown[][]): Command {
  const client = useQueryClient();
  return async (what, act) => {
    try {
      const result = await act();
      say(`${what}: accepted`);
      for (const queryKey of keys) await client.invalidateQueries({ queryKey });
      return result;
    } catch (error) {
      complain(`${what} was refused`, error);
      return undefined;
    }
  };
}
