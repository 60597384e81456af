// Which methods an address takes, for whoever used another one (405, OPTIONS).

import type { RouteSpec } from './route.ts';

/** Of a path, with or without its query: none when there is nothing at all. */
export function methodTable(routes: readonly RouteSpec[]): (url: string) => string[] {
  const methodsOf = Map.groupBy(routes, ({ path }) => path);
  const table = [...methodsOf].map(([path, specs]) => {
    const methods = specs.map(({ method }) => method as string);
    const parameters = path.split(':').length;
    return { parameters, pattern: patternOf(path), methods: methods.includes('GET') ? [...methods, 'HEAD'] : methods };
  });
  // Where several paths match, the one that names most of the address is meant, as in the description of the API.
  table.sort((left, right) => left.parameters - right.parameters);
  return (url) => {
    const [path = ''] = url.split('?');
    const found = table.find(({ pattern }) => pattern.test(path));
    return found === undefined ? [] : [...new Set([...found.methods, 'OPTIONS'])].sort();
  };
}

/** Every parameter is one part of the path, and nothing in a path of ours means anything in a pattern but the dot. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}/?$`);
