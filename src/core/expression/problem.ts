// What is wrong with an expression, and where. All problems are collected, not only the first.

export interface ExpressionProblem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly hint?: string;
  /** Offsets in the source; `line` and `column` count from 1 and say the same as `start`. */
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
}

type ProblemCode =
  | 'EMPTY'
  | 'TOO_LONG'
  | 'TOO_DEEP'
  | 'SYNTAX'
  | 'UNSUPPORTED'
  | 'UNKNOWN_NAME'
  | 'UNKNOWN_METHOD'
  | 'UNKNOWN_FUNCTION'
  | 'FORBIDDEN_MEMBER'
  | 'BAD_CALLBACK'
  | 'BAD_ZONE'
  | 'UNCLOSED'
  | 'TOO_MANY';

export interface Finding {
  readonly code: ProblemCode;
  readonly message: string;
  readonly hint?: string | undefined;
}

export function problemAt(source: string, start: number, end: number, finding: Finding): ExpressionProblem {
  const before = source.slice(0, start);
  const { code, message, hint } = finding;
  return {
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    start,
    end,
    line: before.split('\n').length,
    column: start - before.lastIndexOf('\n'),
  };
}

export function didYouMean(near: string | undefined): string | undefined {
  return near === undefined ? undefined : `did you mean \`${near}\`?`;
}
