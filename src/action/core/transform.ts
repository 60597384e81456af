// core.transform: reshapes data with one expression. `input` is usually a template with values of other nodes; the expression
// sees nothing else (S3) and has the usual limits (S4).

import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import { evaluate } from '../../core/expression/evaluate.ts';
import { EvaluationError, type Limits } from '../../core/expression/evaluation.ts';
import { parseExpression } from '../../core/expression/parse.ts';
import { type ActionDefinition, defineAction } from '../action.ts';

/** Without limits: the defaults. */
export const transform = (limits?: Limits): ActionDefinition =>
  defineAction({
    type: 'core.transform',
    version: '1.0.0',
    connector: 'core',
    codes: ['EVALUATION_ERROR', 'BUDGET_EXCEEDED'],
    category: 'Data',
    displayName: 'Transform',
    description: 'Evaluates an expression over `input`, e.g. input.items.filter(item => item.open).length',
    params: z.object({ expression: z.string().min(1), input: z.json().optional() }),
    outputs: z.object({ result: z.unknown() }),
    run({ expression, input }) {
      const parsed = parseExpression(expression, { roots: ['input'], dialect: 'javascript' });
      if (!parsed.ok) {
        const problems = parsed.problems.map(
          ({ message, line, column }) => `${message} (line ${line}, column ${column})`,
        );
        throw new TerminalError('PARAMETERS_INVALID', `The expression is not valid: ${problems.join('; ')}`);
      }
      try {
        return { outputs: { result: evaluate(parsed.expr, { input }, limits) ?? null } };
      } catch (thrown) {
        if (thrown instanceof EvaluationError) throw new TerminalError(thrown.code, thrown.message);
        throw thrown;
      }
    },
  });
