// What the palette offers for a text: whole words first, then parts, then letters in order.

export interface PaletteEntry {
  readonly kind: string;
  readonly label: string;
  readonly to?: string;
  readonly act?: () => void;
}

export function matching<Entry extends { readonly label: string }>(entries: readonly Entry[], text: string): Entry[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [...entries];
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry.label.toLowerCase(), wanted) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
}

function scoreOf(label: string, wanted: string): number {
  if (label === wanted) return 4;
  if (label.startsWith(wanted)) return 3;
  if (label.includes(wanted)) return 2;
  let at = 0;
  for (const letter of label) if (letter === wanted[at]) at += 1;
  return at === wanted.length ? 1 : 0;
}

/** Where an id that was found is shown. */
export function placeOfFound({ kind, id }: { readonly kind: string; readonly id: string }): string | null {
  const part = encodeURIComponent(id);
  switch (kind) {
    case 'execution':
      return `/executions/${part}`;
    case 'workflow':
      return `/workflows/${part}`;
    case 'trigger':
      return `/triggers/${part}`;
    case 'message':
      return `/messages/${part}`;
    case 'bulk':
      return `/bulk/${part}`;
    case 'consumer':
      return `/consumers/${part}`;
    case 'instance':
      return `/lifecycles/${id.split('/').map(encodeURIComponent).join('/')}`;
    default:
      return null;
  }
}
