// JSON as a folding tree. Values are text, never markup. A click on a value copies the expression that reads it. Large data is
// shown on demand: long texts and lists in pieces, and nothing above a limit until it is asked for.

import { ChevronRight } from 'lucide-react';
import { useMemo, useState } from 'react';
import { expressionOf } from '../model/json-path.ts';
import { bytesText, clipped, plural } from '../model/text.ts';
import { Button } from './button.tsx';
import { CopyButton, useCopy } from './copy.tsx';

const LARGE_BYTES = 262_144;
const PIECE = 100;
const LONG_TEXT = 300;

type Path = readonly (string | number)[];

export function JsonTree({
  value,
  root,
  open = 2,
  label = 'JSON',
}: {
  readonly value: unknown;
  readonly root?: string;
  readonly open?: number;
  readonly label?: string;
}) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'null', [value]);
  const [isAsked, setAsked] = useState(text.length <= LARGE_BYTES);
  if (value === undefined) return <p className="text-faint">None.</p>;
  if (!isAsked) {
    return (
      <div className="flex items-center gap-3 text-muted">
        {bytesText(text.length)}
        <Button small onClick={() => setAsked(true)}>
          Show it
        </Button>
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
    );
  }
  return (
    <div className="group/tree relative font-mono text-xs leading-6">
      <div className="absolute top-0 right-0 rounded bg-panel">
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      <Branch value={value} path={[]} root={root} open={open} />
    </div>
  );
}

interface BranchProps {
  readonly value: unknown;
  readonly name?: string | number;
  readonly path: Path;
  readonly root: string | undefined;
  readonly open: number;
}

function Branch({ value, name, path, root, open }: BranchProps) {
  if (typeof value === 'object' && value !== null) {
    return <Fold value={value} {...(name === undefined ? {} : { name })} path={path} root={root} open={open} />;
  }
  return (
    <div className="flex items-start pl-6">
      {name !== undefined && <Key name={name} path={path} root={root} />}
      <Leaf value={value} />
    </div>
  );
}

function Fold({ value, name, path, root, open }: BranchProps & { readonly value: object }) {
  const [isOpen, setOpen] = useState(open > 0);
  const [count, setCount] = useState(PIECE);
  const isArray = Array.isArray(value);
  const entries = isArray ? value.map((each, index) => [index, each] as const) : Object.entries(value);
  const size = isArray ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <div>
      <div className="flex items-center">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex size-6 shrink-0 items-center justify-center text-faint hover:text-text"
          aria-label={`${isOpen ? 'Fold' : 'Unfold'} ${name === undefined ? 'everything' : clipped(String(name), 40)}`}
        >
          <ChevronRight className={`size-3 transition-transform ${isOpen ? 'rotate-90' : ''}`} aria-hidden="true" />
        </button>
        {name !== undefined && <Key name={name} path={path} root={root} />}
        <span className="text-faint">{size}</span>
      </div>
      {isOpen && (
        <div className="ml-3 border-l pl-0.5">
          {entries.slice(0, count).map(([key, each]) => (
            <Branch key={key} name={key} value={each} path={[...path, key]} root={root} open={open - 1} />
          ))}
          {entries.length > count && (
            <button type="button" className="link min-h-6 pl-6" onClick={() => setCount(count + 10 * PIECE)}>
              {plural(entries.length - count, 'more entry', 'more entries')}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Key({
  name,
  path,
  root,
}: {
  readonly name: string | number;
  readonly path: Path;
  readonly root: string | undefined;
}) {
  const [isCopied, copy] = useCopy();
  const text = clipped(String(name), 80);
  if (root === undefined) return <span className="mr-1.5 shrink-0 text-muted">{text}:</span>;
  const expression = expressionOf(root, path);
  return (
    <button
      type="button"
      onClick={() => copy(expression)}
      title={isCopied ? 'Copied' : `Copy ${clipped(expression, 200)}`}
      className="mr-1.5 min-h-6 min-w-6 shrink-0 text-left text-muted hover:text-accent"
    >
      {isCopied ? 'copied' : text}:
    </button>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value === 'string') {
    const isLong = value.length > LONG_TEXT && !isWhole;
    return (
      <span className="min-w-0 whitespace-pre-wrap wrap-anywhere text-ok" dir="auto">
        "{isLong ? value.slice(0, LONG_TEXT) : value}"
        {isLong && (
          <button type="button" className="link ml-1" onClick={() => setWhole(true)}>
            … all {value.length.toLocaleString('en-US')} characters
          </button>
        )}
      </span>
    );
  }
  const tone = typeof value === 'number' ? 'text-run' : value === null ? 'text-faint' : 'text-wait';
  return <span className={tone}>{String(value)}</span>;
}
