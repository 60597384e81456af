// The methods of an address, for 405 and OPTIONS.

import type { RouteSpec } from './route.ts';

/** For a path, with or without its query; empty when nothing is there. */
export function methodTable(routes: readonly RouteSpec[]): (url: string) => string[] {
  const methodsOf = Map.groupBy(routes, ({ path }) => path);
  const table = [...methodsOf].map(([path, specs]) => {
    const methods = specs.map(({ method }) => method as string);
    const parameters = path.split(':').length;
    return { parameters, pattern: patternOf(path), methods: methods.includes('GET') ? [...methods, 'HEAD'] : methods };
  });
  // Of several matching paths the most literal one counts, as in OpenAPI.
  table.sort((left, right) => left.parameters - right.parameters);
  return (url) => {
    const [path = ''] = url.split('?');
    const found = table.find(({ pattern }) => pattern.test(path));
    return found === undefined ? [] : [...new Set([...found.methods, 'OPTIONS'])].sort();
  };
}

/** A parameter is one path segment; only the dot of our paths has a meaning in a pattern. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}/?$`);
