// Styles text for a terminal: colours only on a terminal, and not with NO_COLOR, --no-color or TERM=dumb.

import { styleText } from 'node:util';
import { terminalPreferences } from '../../config/config.ts';
import { coloursAreRefused } from './colour.ts';

type Style = Parameters<typeof styleText>[0];

/** Colours a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

const plain: Paint = (_style, text) => text;
const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

export function paintOn(stream: { readonly isTTY?: boolean }): Paint {
  return !coloursAreRefused() && terminalPreferences(stream).colour ? coloured : plain;
}

export const canRedraw = (stream: { readonly isTTY?: boolean }): boolean => terminalPreferences(stream).redraw;

export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
