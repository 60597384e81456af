// A server with the APIs of S3 and Secrets Manager, for the tests of artifacts and plans in buckets, and of secrets.

import { pythonProgram } from './python.ts';

export const moto = pythonProgram({
  name: 'moto',
  use: 'the tests of artifacts and plans in S3, and of secrets of AWS',
  packages: ['moto[server,s3]'],
  program: 'moto_server',
});
