// Temporal's test server, which skips the time in which nothing happens. It is a Java program from Maven Central.

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, inPath, type Obtained, runProgram, type Server, startListening } from './server.ts';

const VERSION = '1.38.0';
const FOLDER = cacheFolder(`temporal-test-server-${VERSION}`);
const LIBRARIES = join(FOLDER, 'lib');

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>pawl</groupId><artifactId>temporal-test-server</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId><version>${VERSION}</version></dependency>
  </dependencies>
</project>
`;

export const temporalTimeSkipping: Server = {
  name: 'temporal-time-skipping',
  use: 'tests of long timers on Temporal',
  port: 7234,
  find: () => (existsSync(LIBRARIES) && inPath('java') !== null ? LIBRARIES : null),
  obtain,
  start: (libraries, { port }) =>
    startListening(
      'java',
      ['-cp', join(libraries, '*'), 'io.temporal.testserver.TestServer', String(port), '--enable-time-skipping'],
      port,
    ),
};

async function obtain(): Promise<Obtained> {
  if (inPath('java') === null) return { missing: 'Java is not installed; the test server is a Java program' };
  const maven = inPath('mvn');
  if (maven === null) return { missing: 'Maven is not installed; it downloads the test server' };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'pom.xml'), POM);
  // The folder has another name until it is complete, so that an interrupted download is not taken for a program.
  const partly = `${LIBRARIES}.partly`;
  rmSync(partly, { recursive: true, force: true });
  const copy = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${partly}`];
  const failure = await runProgram(maven, copy, { cwd: FOLDER });
  if (failure !== null) return { missing: failure };
  renameSync(partly, LIBRARIES);
  return { path: LIBRARIES };
}
