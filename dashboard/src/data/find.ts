// Finds whatever has this id, request id or reference.

import { useQuery } from '@tanstack/react-query';
import { type PaletteEntry, placeOfFound } from '../model/palette.ts';
import { pawl } from './client.ts';

const SHORTEST = 3;

export function useFound(text: string): PaletteEntry[] {
  const wanted = text.trim();
  const { data } = useQuery({
    queryKey: ['find', wanted],
    queryFn: async () => (await pawl.system.find(wanted)).data,
    enabled: wanted.length >= SHORTEST,
  });
  return (data ?? []).flatMap(({ kind, id, title }): PaletteEntry[] => {
    const to = placeOfFound({ kind, id });
    return to === null ? [] : [{ kind, label: title, to }];
  });
}
