// Something that is asked of the server by a click: said when it was accepted, complained about when it was refused, and what
// is shown is asked for again.

import { useQueryClient } from '@tanstack/react-query';
import { complain, say } from './toast.tsx';

export type Command = <Result>(what: string, act: () => Promise<Result>) => Promise<Result | undefined>;

/** `keys`: the queries whose answers are old afterwards. */
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
