// Compiles every condition and template of a draft, and checks what they read: a node that does not
// exist is an error, and so is one that does not come before the reader, unless `??` or `?.` allows for its absence.
// Notes which nodes are read at all: only their data has to stay in memory.

import type { Expr } from '../expression/ast.ts';
import { type Dialect, type ExpressionProblem, parseExpression } from '../expression/parse.ts';
import { pathText, type Reference, references } from '../expression/references.ts';
import type { Json } from '../json/json.ts';
import type { Condition, Format } from '../plan/plan.ts';
import { pointerOf } from '../problem/pointer.ts';
import type { Findings } from '../problem/problem.ts';
import type { Steps } from '../steps/steps.ts';
import { compileTemplateInSteps, templateReferences } from '../template/compile.ts';
import type { Path } from '../template/pieces.ts';
import type { Template } from '../template/template.ts';
import type { Draft, DraftCondition, DraftEdge, Located } from './draft.ts';
import { MAX_TEMPLATE_CHARS } from './limits.ts';
import { findNode, type Links } from './link.ts';
import { type Reading, readingOf } from './reading.ts';
import type { IsUpstream } from './topology.ts';

/** As in GitHub Actions, and in our own templates. */
const WITHOUT_BRACES = 'write the expression itself, without {{ }}';

interface Language {
  readonly roots: readonly string[];
  readonly dialect: Dialect;
  readonly isText?: (path: Path) => boolean;
}

/** Null in a URL or a header is a hole, also when there is nothing around it. */
const isTextOfTask = ([field]: Path): boolean => field === 'url' || field === 'headers';

const LANGUAGE: Readonly<Record<Format, Language>> = {
  graph: {
    roots: ['trigger', 'context', 'vars', 'spec', 'execution', 'principal', 'wait'],
    dialect: 'javascript',
  },
  pipeline: { roots: ['trigger', 'tasks', 'wait'], dialect: 'pipeline', isText: isTextOfTask },
  plan: { roots: ['inputs', 'steps', 'scope'], dialect: 'javascript' },
};

/** Who reads: a node, before it runs; an edge, when its node has ended; the execution, at its end. */
interface Reader {
  readonly node: number | null;
  readonly afterNode: boolean;
  /** A node that has certainly failed when this is read: it has an error, and no outputs. */
  readonly failed: number | null;
  /** Names that a loop binds: `item`, `index`, `round`, `previous`, `output`. */
  readonly bound?: readonly string[];
}

/** The fields that an action returns, of actions that return no others. */
export type OutputFields = ReadonlyMap<string, readonly string[]>;

/** The loop whose body is compiled: what stands before the loop can be read in it. */
export interface Enclosing {
  readonly compiler: ExpressionCompiler;
  readonly node: number;
  readonly bound: readonly string[];
}

export class ExpressionCompiler {
  /** Nodes whose data some expression reads. */
  readonly read = new Set<number>();
  /** Some expression reads the data as a whole, or by a name that is only known when it runs. */
  readsAll = false;
  /** Some template reads `attempt`. */
  readsAttempt = false;

  readonly #draft: Draft;
  readonly #links: Links;
  readonly #isUpstream: IsUpstream | null;
  readonly #findings: Findings;
  readonly #enclosing: Enclosing | null;
  readonly #outputFields: OutputFields;

  constructor(
    draft: Draft,
    links: Links,
    isUpstream: IsUpstream | null,
    findings: Findings,
    enclosing: Enclosing | null = null,
    outputFields: OutputFields = enclosing === null ? new Map() : enclosing.compiler.#outputFields,
  ) {
    this.#draft = draft;
    this.#links = links;
    this.#isUpstream = isUpstream;
    this.#findings = findings;
    this.#enclosing = enclosing;
    this.#outputFields = outputFields;
  }

  get links(): Links {
    return this.#links;
  }

  get findings(): Findings {
    return this.#findings;
  }

  #roots(reader: Reader): string[] {
    const { roots } = LANGUAGE[this.#draft.format];
    return [...roots, ...(this.#enclosing?.bound ?? []), ...(reader.bound ?? [])];
  }

  edgeCondition({ owner, condition, when }: DraftEdge): Condition | null {
    const reader = { node: owner, afterNode: true, failed: when === 'failure' ? owner : null };
    return condition === null ? null : this.#condition({ ...condition, on: null }, reader);
  }

  nodeCondition(node: number): Condition | null {
    const condition = this.#draft.nodes[node]!.condition;
    return condition === null ? null : this.#condition(condition, { node, afterNode: false, failed: null });
  }

  nodeTemplate(node: number, value: Located<Json>, bound: readonly string[] = []): Steps<Template | null> {
    return this.#template(value, { node, afterNode: false, failed: this.#failedBefore(node), bound });
  }

  /** `until` of a loop, which is judged after each round. */
  until(node: number, condition: Located<string>, bound: readonly string[]): Condition | null {
    return this.#condition({ ...condition, on: null }, { node, afterNode: false, failed: null, bound });
  }

  *outputs(): Steps<Template | null> {
    const { outputs } = this.#draft;
    return outputs === null ? null : yield* this.#template(outputs, { node: null, afterNode: true, failed: null });
  }

  #condition(condition: DraftCondition, reader: Reader): Condition | null {
    const { value: source, at, on } = condition;
    const { dialect } = LANGUAGE[this.#draft.format];
    const roots = this.#roots(reader);
    const parsed = parseExpression(source, { roots: on === null ? roots : [...roots, 'on'], dialect });
    if (!parsed.ok) {
      const hint = source.includes('{{') ? { hint: WITHOUT_BRACES } : {};
      for (const problem of parsed.problems) this.#reportSyntax('BAD_CONDITION', at, { ...problem, ...hint }, source);
      return null;
    }
    for (const reference of references(parsed.expr)) this.#checkReference(reference, at, reader);
    if (on === null) return { source, expr: parsed.expr };
    const path = parseOn(on, this.#findings);
    if (path === null) return null;
    this.#checkReference({ path: ['steps', ...path], guarded: false }, on.at, reader);
    // The path is part of what the condition says: people read it, and the checksum must see it.
    return { source: `${source}, where on is ${on.value}`, expr: bindOn(parsed.expr, path) };
  }

  *#template({ value, at }: Located<Json>, reader: Reader): Steps<Template | null> {
    const size = JSON.stringify(value).length;
    yield;
    if (size > MAX_TEMPLATE_CHARS) {
      const message = `this is ${size} characters of JSON; the limit is ${MAX_TEMPLATE_CHARS}`;
      this.#findings.error('TOO_LARGE', at, message, 'pass large data by reference');
      return null;
    }
    // An attempt is being prepared where a node's parameters are rendered, and nowhere else.
    const attempt = reader.node !== null && this.#draft.format === 'graph' ? ['attempt'] : [];
    const language = { ...LANGUAGE[this.#draft.format], roots: [...this.#roots(reader), ...attempt] };
    const compiled = yield* compileTemplateInSteps(value, language);
    if (!compiled.ok) {
      for (const problem of compiled.problems) this.#reportSyntax('BAD_TEMPLATE', pointerOf(problem.path, at), problem);
      return null;
    }
    for (const reference of templateReferences(compiled.template)) {
      yield;
      if (reference.path[0] === 'attempt') this.noteAttempt();
      this.#checkReference(reference, pointerOf(reference.templatePath, at), reader);
    }
    return compiled.template;
  }

  /** In the body of a loop it is the whole plan that reads it. */
  noteAttempt(): void {
    this.readsAttempt = true;
    this.#enclosing?.compiler.noteAttempt();
  }

  #reportSyntax(code: string, at: string, problem: ExpressionProblem, source = ''): void {
    this.#findings.syntaxError(code, at, problem, problem.line === 1 && !source.includes('\n'));
  }

  #checkReference(reference: Pick<Reference, 'path' | 'guarded'>, at: string, reader: Reader): void {
    const reading = readingOf(this.#draft.format, reference.path);
    switch (reading.kind) {
      case 'elsewhere':
        return;
      case 'all':
        this.readsAll = true;
        return;
      case 'nothing':
        if (!reference.guarded) this.#reportNothing(reference.path, reading, at);
        return;
      case 'data':
      case 'callback':
        this.#checkNode(reading, reference, at, reader);
    }
  }

  #checkNode(
    reading: Reading & { name: string },
    reference: Pick<Reference, 'path' | 'guarded'>,
    at: string,
    reader: Reader,
  ): void {
    if (!this.#links.byName.has(reading.name) && this.#enclosing?.compiler.links.byName.has(reading.name)) {
      const { compiler, node } = this.#enclosing;
      return compiler.#checkNode(reading, reference, at, { node, afterNode: false, failed: null });
    }
    const { index, guessed } = findNode(
      { value: reading.name, at },
      this.#links.byName,
      this.#findings,
      this.#draft.format,
    );
    if (index === null) return;
    if (reading.kind === 'callback') {
      if (!guessed) this.#checkCallback(index, at);
      return;
    }
    this.read.add(index);
    if (!guessed && !reference.guarded) this.#checkField(index, reference.path, at);
    if (index === reader.failed && !reference.guarded) this.#checkFailedData(index, reference.path, at);
    if (guessed || reference.guarded || reader.node === null || this.#isUpstream === null) return;
    if (this.#isUpstream(index, reader.node) || (reader.afterNode && index === reader.node)) return;
    this.#reportNotUpstream(index, reader.node, reference.path, at);
  }

  #checkCallback(index: number, at: string): void {
    const { id, step } = this.#draft.nodes[index]!;
    if (step === null || step.kind === 'webhook' || (step.kind === 'wait' && step.callback)) return;
    const message = `\`wait.${id}\` has no callback URL: \`${id}\` does not wait for a webhook`;
    this.#findings.error('NOT_A_WEBHOOK', at, message, `read its result as \`tasks.${id}\``);
  }

  /** The node whose failure is the only way to this one; null: there are others, or none. */
  #failedBefore(node: number): number | null {
    const edges = this.#links.edges.filter(({ to }) => to === node);
    const [first] = edges;
    const isOnlyFailure = edges.every(({ from, draft }) => from === first?.from && draft.when === 'failure');
    return first !== undefined && isOnlyFailure ? first.from : null;
  }

  #checkFailedData(index: number, path: Reference['path'], at: string): void {
    const [, , , field, ...rest] = path;
    if (this.#draft.format !== 'graph' || field === undefined || field === 'error' || field === 'errorNode') return;
    const { id } = this.#draft.nodes[index]!;
    const message = `\`${pathText(path)}\` never exists here: \`${id}\` has failed, and its data is { error, errorNode }`;
    const details = pathText(['context', 'data', id, 'error', 'details', field, ...rest]);
    this.#findings.error('FAILED_NODE_DATA', at, message, `write \`${details}\` for what the failed attempt said`);
  }

  /** A warning: nothing holds an action to its schema when it runs. */
  #checkField(index: number, path: Reference['path'], at: string): void {
    const { id, step, loop } = this.#draft.nodes[index]!;
    const field = path[3];
    if (this.#draft.format !== 'graph' || typeof field !== 'string' || step?.kind !== 'action' || loop) return;
    const fields = this.#outputFields.get(step.actionType);
    if (fields === undefined || [...fields, 'error', 'errorNode'].includes(field)) return;
    const message = `\`${step.actionType}\` returns no \`${field}\`: it returns ${fields.join(', ')}`;
    const near = this.#findings.nearMiss(field, fields);
    const meant = near === undefined ? null : pathText(['context', 'data', id, near, ...path.slice(4)]);
    const advice = meant === null ? `\`pawl actions ${step.actionType}\` shows what it returns` : `write \`${meant}\``;
    this.#findings.warning('UNKNOWN_OUTPUT', at, message, advice);
  }

  #reportNothing(path: Reference['path'], { instead, meant, isNew }: Reading & { kind: 'nothing' }, at: string): void {
    const message = `\`${pathText(path)}\` does not exist: ${instead}`;
    const advice = meant === null ? undefined : `write \`${pathText(meant)}\``;
    if (isNew) this.#findings.newError('UNKNOWN_REFERENCE', at, message, advice);
    else this.#findings.error('UNKNOWN_REFERENCE', at, message, advice);
  }

  #reportNotUpstream(index: number, reader: number, path: Reference['path'], at: string): void {
    const { id } = this.#draft.nodes[index]!;
    const readerId = this.#draft.nodes[reader]!.id;
    const isOwn = index === reader;
    const message = isOwn
      ? `\`${readerId}\` reads its own result, \`${pathText(path)}\`, before it has one`
      : `\`${readerId}\` reads \`${pathText(path)}\`, but \`${id}\` does not run before it`;
    const { format } = this.#draft;
    this.#findings.error('NOT_UPSTREAM', at, message, isOwn ? ADVICE_FOR_OWN[format] : ADVICE[format](id));
  }
}

const ADVICE: Readonly<Record<Format, (id: string) => string>> = {
  graph: (id) => `lead a path from \`${id}\` here, or allow for its absence with \`?.\` or \`??\``,
  pipeline: (id) => `add "${id}" to the task's \`needs\``,
  plan: (id) => `add "${id}" to the step's \`dependsOn\`, or allow for its absence with \`?.\` or \`??\``,
};

/** What reads itself cannot be led to, or need itself: that would be a cycle. */
const ADVICE_FOR_OWN: Readonly<Record<Format, string>> = {
  graph: 'read a node that runs before it, or read it in the condition of an edge that leaves it',
  pipeline: 'read a task that it `needs`, or remove this',
  plan: 'read a step that it `dependsOn`, or remove this',
};

const PATH = /^[^.[\]\s]+(?:\.[^.[\]\s]+|\[\d{1,9}\])*$/;
const PART = /[^.[\]]+/g;

/** Reads `when.on` of an execution plan, a path such as `compile.output.metadata.changed`. Returns its keys; the first is the step. */
function parseOn(on: Located<string>, findings: Findings): readonly (string | number)[] | null {
  if (!PATH.test(on.value)) {
    const message = `"${on.value.slice(0, 100)}" is not a path from a step to a value`;
    findings.error('BAD_PATH', on.at, message, 'e.g. "compile.output.metadata.changed"');
    return null;
  }
  return on.value.match(PART)!.map((part, index) => (index > 0 && /^\d+$/.test(part) ? Number(part) : part));
}

/** Puts the path into the condition in place of `on`. A missing part reads as undefined. */
function bindOn(expr: Expr, path: readonly (string | number)[]): Expr {
  let value: Expr = { op: 'root', name: 'steps', start: 0, end: 0 };
  for (const key of path) value = { op: 'member', object: value, key, optional: true, start: 0, end: 0 };
  return replaceOn(expr, { op: 'chain', body: value }) as Expr;
}

/** The tree is plain JSON and shallow: the parser bounds its depth. */
function replaceOn(tree: unknown, replacement: Expr): unknown {
  if (Array.isArray(tree)) return tree.map((item) => replaceOn(item, replacement));
  if (tree === null || typeof tree !== 'object') return tree;
  if ('op' in tree && tree.op === 'root' && 'name' in tree && tree.name === 'on') return replacement;
  return Object.fromEntries(Object.entries(tree).map(([key, inner]) => [key, replaceOn(inner, replacement)]));
}
