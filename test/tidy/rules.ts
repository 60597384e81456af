// All the house rules, in the order in which they are reported. Adding one: write it in rule/, put it in its list, and
// give it samples in sample/ that break it and samples that only look as if they did.

import { boundaryRules } from './rule/boundary.ts';
import { documentRules } from './rule/document.ts';
import { importRules } from './rule/import.ts';
import { leftoverRules } from './rule/leftover.ts';
import { purityRules } from './rule/purity.ts';
import { shapeRules } from './rule/shape.ts';
import type { Rule } from './rule.ts';

export const rules: readonly Rule[] = [
  ...shapeRules,
  ...importRules,
  ...purityRules,
  ...boundaryRules,
  ...leftoverRules,
  ...documentRules,
];
