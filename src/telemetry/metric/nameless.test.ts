import { expect, it } from 'vitest';
import { withoutNames } from './nameless.ts';

it('series that differ only by tenant or workflow are added up, and nothing else changes', () => {
  const text = [
    '# TYPE done counter',
    'done{workflowId="a\\"},x{",status="ok"} 2',
    'done{workflowId="b",status="ok"} 3',
    'done{workflowId="b",status="bad"} 1',
    'plain 7',
    'typed{type="core.echo"} 1.5',
    'depth{tenant="acme"} 4',
    'depth{tenant="globex"} 5',
    '',
  ];
  expect(withoutNames(text.join('\n')).split('\n')).toEqual([
    '# TYPE done counter',
    'done{status="ok"} 5',
    'done{status="bad"} 1',
    'plain 7',
    'typed{type="core.echo"} 1.5',
    'depth 9',
    '',
  ]);
});
