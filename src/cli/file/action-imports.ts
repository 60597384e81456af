// Lets the files of `--actions` import 'pawl', 'pawl/sdk' and 'zod' wherever they are: packages that their own folder does not
// have come from the running Pawl.

import { registerHooks } from 'node:module';

/** This file is TypeScript in a clone and JavaScript in an installed package, and so are its neighbours. */
const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

const OURS: Readonly<Record<string, () => string>> = {
  pawl: () => new URL(`../../main${extension}`, import.meta.url).href,
  'pawl/sdk': () => new URL(`../../sdk/client${extension}`, import.meta.url).href,
  zod: () => import.meta.resolve('zod'),
};

let isOffered = false;

export function offerOwnModules(): void {
  if (isOffered) return;
  isOffered = true;
  registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        const ours = Object.hasOwn(OURS, specifier) ? OURS[specifier] : undefined;
        if (ours === undefined) throw error;
        return { url: ours(), shortCircuit: true };
      }
    },
  });
}
