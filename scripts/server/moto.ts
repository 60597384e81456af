// A server that speaks S3, for the tests of artifacts and plans in buckets.

import { pythonProgram } from './python.ts';

export const moto = pythonProgram({
  name: 'moto',
  use: 'the tests of artifacts and plans in S3',
  packages: ['moto[server,s3]'],
  program: 'moto_server',
});
