// Bounds how the time of a regular expression grows with the text. Most patterns match in linear time; some take for ever (S4).
// This reads the pattern and counts what makes a matcher backtrack: unbounded repetitions and choices. A pattern that it does not
// understand or cannot bound is refused.

interface Part {
  /** Unbounded repetitions: each adds one to the power. */
  readonly unbounded: number;
  /** The number of other ways to match. */
  readonly ways: number;
}

const NOTHING: Part = { unbounded: 0, ways: 1 };
const MAX_CHARS = 200;
const MAX_WAYS = 32;
const MAX_REPEATS = 1_000;
const MAX_POWER = 3;

const QUANTIFIER = /^(?:([?*+])|\{(\d{1,4})(,?)(\d{0,4})\})\??/;
const GROUP = /^\((?:\?:|\?<[A-Za-z]\w*>|(?!\?))/;
const CLASS = /^\[(?:\\.|[^\]\\])*\]/;
const ESCAPE = /^\\(?:[dDwWsStnrfv]|u[\da-fA-F]{4}|u\{[\da-fA-F]{1,6}\}|x[\da-fA-F]{2}|[pP]\{[\w=]+\}|[^\w])/;
const EDGE = /^(?:[$^]|\\[bB])/;
const LITERAL = /^[^\\()[\]{}*+?|^$]/u;

/** The power of the text's length that bounds the time: 1 is linear. null: unbounded, or not a pattern. */
export function patternPower(source: string): number | null {
  if (source.length > MAX_CHARS || !isPattern(source)) return null;
  const reader = new Reader(source);
  const whole = reader.choices();
  if (whole === null || !reader.isAtEnd || whole.ways > MAX_WAYS) return null;
  // Without an anchor the matcher starts again at every character.
  const power = Math.max(1, whole.unbounded + (isAnchored(source) ? 0 : 1));
  return power > MAX_POWER ? null : power;
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** A choice at the top level would have to be anchored in each branch. */
const isAnchored = (source: string): boolean => source.startsWith('^') && !source.includes('|');

class Reader {
  private rest: string;

  constructor(source: string) {
    this.rest = source;
  }

  get isAtEnd(): boolean {
    return this.rest === '';
  }

  choices(): Part | null {
    let sum = this.sequence();
    while (sum !== null && this.take(/^\|/) !== null) {
      const next = this.sequence();
      sum = next === null ? null : { unbounded: sum.unbounded + next.unbounded, ways: sum.ways + next.ways };
    }
    return sum;
  }

  private sequence(): Part | null {
    let all: Part = NOTHING;
    while (this.rest !== '' && !/^[|)]/.test(this.rest)) {
      const next = this.repeated();
      if (next === null) return null;
      all = { unbounded: all.unbounded + next.unbounded, ways: all.ways * next.ways };
    }
    return all;
  }

  private repeated(): Part | null {
    if (this.take(EDGE) !== null) return NOTHING;
    const isGroup = this.take(GROUP) !== null;
    const part = isGroup ? this.choices() : this.one();
    if (part === null || (isGroup && this.take(/^\)/) === null)) return null;
    const quantifier = this.take(QUANTIFIER);
    return quantifier === null ? part : times(part, isGroup, quantifier);
  }

  private one(): Part | null {
    const known = this.take(CLASS) ?? this.take(ESCAPE) ?? this.take(LITERAL);
    return known === null ? null : NOTHING;
  }

  private take(what: RegExp): RegExpExecArray | null {
    const found = what.exec(this.rest);
    if (found !== null) this.rest = this.rest.slice(found[0].length);
    return found;
  }
}

function times(part: Part, isGroup: boolean, [, sign, least = '0', comma, most]: RegExpExecArray): Part | null {
  if (sign === '?') return { ...part, ways: part.ways + 1 };
  const isPlain = part.unbounded === 0 && part.ways === 1;
  if (sign !== undefined || (comma !== '' && most === '')) return isGroup ? null : { unbounded: 1, ways: 1 };
  const range = comma === '' ? 0 : Number(most) - Number(least);
  if (!isPlain || Number(least) + range > MAX_REPEATS) return null;
  return { unbounded: 0, ways: range + 1 };
}
