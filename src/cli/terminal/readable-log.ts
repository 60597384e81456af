// The log of `pawl dev` for people: one short line per JSON line, and the place where an action threw.

import type { LogTarget } from '../../telemetry/log.ts';
import { printable } from '../file/line-map.ts';
import { paintOn } from './terminal.ts';

/** Properties that add nothing for a single developer, or repeat another property. */
const LEFT_OUT = new Set([
  'CorrelationId',
  'PrincipalUserId',
  'TenantId',
  'AttemptId',
  'WorkflowVersion',
  'ActionType',
]);

const WARNING = 40;

export function readableLog(stream: NodeJS.WriteStream): LogTarget {
  const paint = paintOn(stream);
  return {
    write(line) {
      const {
        level,
        time,
        message,
        Stack: frames,
        WorkflowId,
        NodeId,
        ...rest
      } = JSON.parse(line) as Record<string, unknown>;
      const place = [WorkflowId, NodeId].filter((part) => part !== undefined).join('/');
      const said = Object.entries(rest)
        .filter(([name]) => !LEFT_OUT.has(name))
        .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
      const clock = new Date(String(time)).toLocaleTimeString([], { hourCycle: 'h23' });
      const what = paint(Number(level) >= WARNING ? 'yellow' : 'reset', printable(String(message)));
      const details = printable([...(place === '' ? [] : [place]), ...said].join('  '));
      const where = typeof frames === 'string' ? `${frames.split('\n').map(printable).join('\n')}\n` : '';
      stream.write(`${paint('dim', clock)} ${what}  ${details}\n${paint('dim', where)}`);
    },
  };
}
