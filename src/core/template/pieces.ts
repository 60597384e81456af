// Every `{{ … }}` of a template with the path of the string it stands in.

import type { Piece, Template } from './template.ts';

export type Path = readonly (string | number)[];

export function pieces(template: Template, path: Path = []): { readonly piece: Piece; readonly path: Path }[] {
  switch (template.kind) {
    case 'literal':
      return [];
    case 'value':
      return [{ piece: template.piece, path }];
    case 'text':
      return template.parts.filter((part) => typeof part === 'object').map((piece) => ({ piece, path }));
    case 'array':
      return template.items.flatMap((item, index) => pieces(item, [...path, index]));
    case 'object':
      return template.entries.flatMap(([key, item]) => pieces(item, [...path, key]));
  }
}
