// Compiles definitions beside the page, which stays quick while somebody types: all problems at once, as the server finds them.

import './jitless.ts';
import { compileDefinition } from '../../../src/core/definition/compile.ts';
import type { CompileAnswer, CompileRequest } from './compiler.ts';

self.onmessage = ({ data }: MessageEvent<CompileRequest>) => {
  self.postMessage(answerOf(data));
};

function answerOf({ id, text, actions }: CompileRequest): CompileAnswer {
  let definition: unknown;
  try {
    definition = JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const offset = /position (\d+)/.exec(message)?.[1];
    const problem = {
      code: 'NOT_JSON',
      path: '',
      message,
      ...(offset === undefined ? {} : { offset: Number(offset) }),
    };
    return { id, isOk: false, problems: [problem], warnings: [] };
  }
  const result = compileDefinition(definition, actions === null ? {} : { actions: new Set(actions) });
  if (!result.ok) return { id, isOk: false, definition, problems: result.problems, warnings: [] };
  return { id, isOk: true, definition, problems: [], warnings: result.warnings };
}
