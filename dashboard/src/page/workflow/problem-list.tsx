// Every problem at once; a click leads to its line, and a suggestion that is a name can be taken.

import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react';
import { Button } from '../../component/button.tsx';
import type { EditorHandle, EditorProblem } from '../../editor/json-editor.tsx';
import { fixOf } from '../../model/definition-graph.ts';
import { clipped, plural } from '../../model/text.ts';

interface ProblemListProps {
  readonly problems: readonly (EditorProblem & { readonly code: string })[];
  /** It has been compiled at least once. */
  readonly isRead: boolean;
  readonly editor: { readonly current: EditorHandle | null };
}

export function ProblemList({ problems, isRead, editor }: ProblemListProps) {
  const errors = problems.filter(({ isWarning }) => isWarning !== true).length;
  return (
    <section aria-label="Problems" className="flex max-h-56 flex-col border-t">
      <div className="flex h-8 shrink-0 items-center gap-1.5 px-3 text-xs" role="status">
        {!isRead ? (
          <span className="text-faint">Checking …</span>
        ) : errors === 0 ? (
          <span className="flex items-center gap-1.5 text-ok">
            <CircleCheck className="size-3.5" aria-hidden="true" /> No problems
            {problems.length > 0 && <span className="text-warn">, {plural(problems.length, 'warning')}</span>}
          </span>
        ) : (
          <span className="flex items-center gap-1.5 text-bad">
            <CircleX className="size-3.5" aria-hidden="true" /> {plural(errors, 'problem')}
          </span>
        )}
      </div>
      {problems.length > 0 && (
        <ul className="divide-y overflow-y-auto border-t">
          {problems.map((problem) => (
            <Problem key={`${problem.path} ${problem.message}`} problem={problem} editor={editor} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Problem({
  problem,
  editor,
}: {
  readonly problem: ProblemListProps['problems'][number];
  readonly editor: ProblemListProps['editor'];
}) {
  const { path, message, suggestion, isWarning } = problem;
  const fix = fixOf(problem);
  const Icon = isWarning === true ? TriangleAlert : CircleX;
  return (
    <li className="flex items-start gap-2 px-3 py-1.5 text-xs hover:bg-hover">
      <Icon
        className={`mt-0.5 size-3.5 shrink-0 ${isWarning === true ? 'text-warn' : 'text-bad'}`}
        aria-hidden="true"
      />
      <button type="button" className="min-w-0 flex-1 text-left" onClick={() => editor.current?.goTo(path)}>
        <span className="font-mono text-faint">{clipped(path === '' ? '/' : path, 80)}</span> {clipped(message, 400)}
        {suggestion !== undefined && fix === null && <span className="text-muted"> {clipped(suggestion, 300)}</span>}
      </button>
      {fix !== null && (
        <Button small onClick={() => editor.current?.replace(path, fix.name, fix.where)}>
          Use “{clipped(fix.name, 40)}”
        </Button>
      )}
    </li>
  );
}
