// Estimates the width of text without a font, and escapes text for XML.

export const LINE_HEIGHT = 18;
const NARROW = 7.2;
const WIDE = 14;
const MAX_SHOWN = 48;

/** Longer text is cut. */
export function shown(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_SHOWN ? text : `${characters.slice(0, MAX_SHOWN - 1).join('')}…`;
}

/** Errs on the large side: too much room looks better than too little. */
export function textWidth(text: string): number {
  return [...shown(text)].reduce((sum, character) => sum + (character.codePointAt(0)! < 0x1100 ? NARROW : WIDE), 0);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Two Unicode characters are not allowed in XML at all. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!).replace(/[\uFFFE\uFFFF]/g, '\uFFFD');
}
