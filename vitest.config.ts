import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'dashboard/src/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/property-seed.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Less than a test has, so that it is said what did not come; the default, a second, is nothing on a busy machine.
    expect: { poll: { timeout: 50_000 } },
    // Many tests wait for servers and browsers: with one worker per core, a third of the CPU time was idle.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // A file that needs a process of its own starts one. Loading the modules anew for each file took a third of the time.
    isolate: false,
    coverage: {
      provider: 'v8',
      include: ['src/core/**/*.ts', 'src/lifecycle/machine/**/*.ts'],
      exclude: ['src/**/*.test.ts', 'src/**/*.testing.ts'],
      reporter: ['text-summary', 'html'],
      thresholds: { 'src/core/**': { branches: 100 }, 'src/lifecycle/machine/**': { branches: 100 } },
    },
  },
});
