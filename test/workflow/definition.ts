// Small graph workflows for tests of the workflow lifecycle, not of execution.

import type { Json, JsonObject } from '../../src/core/json/json.ts';

export function echo(id: string, message: Json = 'hello', rest: JsonObject = {}): JsonObject {
  return {
    id,
    displayName: `Echo ${id}`,
    startNode: 'say',
    nodes: [{ id: 'say', actionType: 'core.echo', parameters: { message } }],
    ...rest,
  };
}
