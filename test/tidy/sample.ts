// Small trees that prove that a rule can fail: `breaks` says where each must be found, `keeps` must pass.

export interface Sample {
  readonly rule: string;
  /** Each is a tree of its own, with the places ("file:line") where this rule, and how often, finds something. */
  readonly breaks: readonly { readonly files: Files; readonly at: readonly string[] }[];
  readonly keeps: readonly Files[];
}

type Files = Readonly<Record<string, string>>;

/** One file that breaks the rule on the given lines, once each. */
export function broken(file: string, text: string, ...lines: number[]): Sample['breaks'][number] {
  return { files: { [file]: text }, at: lines.map((line) => `${file}:${line}`) };
}
