// `pawl start WORKFLOW`: starts an execution on a server and prints its id; with --wait, follows it to its end. Exit code 0 when
// it was accepted; with --wait, its outcome.

import type { Command } from 'commander';
import { nearMiss } from '../../core/problem/near-miss.ts';
import type { Driver } from '../../protocol/driver.ts';
import { MAX_PAGE } from '../../protocol/page.ts';
import { PawlApiError, type PawlClient } from '../../sdk/client.ts';
import { driverOption, FAIL_ON_TASK_FAILURE, jsonOption, wholeNumber } from '../argument.ts';
import { executionThere, PATIENCE } from '../execution-there.ts';
import { EXIT } from '../exit.ts';
import { follow } from '../follow.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { printJson } from '../terminal/terminal.ts';
import { nameOf } from './workflows.ts';

interface StartFlags extends ClientFlags {
  readonly trigger?: string;
  readonly spec?: string;
  readonly requestId?: string;
  readonly workflowVersion?: number;
  readonly priority?: number;
  readonly driver?: Driver;
  readonly wait?: boolean;
  readonly failOnTaskFailure?: boolean;
}

export function register(program: Command): void {
  clientCommand(program, 'start', 'start a published workflow on a running server')
    .argument('<workflow>', 'its id (of a pipeline: its name)')
    .option(
      '-t, --trigger <json>',
      'trigger payload (for a pipeline: the body); @file reads a file, - reads standard input',
    )
    .option('--spec <json>', 'the structured payload of a graph workflow (`spec`)')
    .option('--request-id <text>', 'sending the same request id twice starts one execution')
    .option('--workflow-version <number>', 'this version instead of the current one', wholeNumber(0, 1_000_000_000))
    .addOption(driverOption())
    .option('--priority <number>', '0 to 9, higher first (5)', wholeNumber(0, 9))
    .option(
      '-w, --wait',
      'follow it to its end; the exit code is then the outcome. Ctrl-C cancels it, and twice leaves it running',
    )
    .option('--fail-on-task-failure', FAIL_ON_TASK_FAILURE)
    .addHelpText('after', EXAMPLES)
    .action(async (workflow: string, flags: StartFlags) => {
      process.exitCode = await start(workflow, flags);
    });
}

const EXAMPLES = `
Examples:
  pawl start hello-pawl --trigger '{"name":"Ada"}' --wait
  pawl start orders --trigger @order.json --request-id order-7
  id=$(pawl start nightly) && pawl logs "$id" --follow`;

async function start(workflow: string, flags: StartFlags): Promise<number> {
  const { requestId, workflowVersion: version, priority, driver, json: asJson = false } = flags;
  const trigger = jsonOption('--trigger', flags.trigger);
  const spec = jsonOption('--spec', flags.spec);
  const wanted = Object.entries({ trigger, spec, requestId, version, priority, driver });
  const request = Object.fromEntries(wanted.filter(([, value]) => value !== undefined));
  const server = connect(flags);
  const answer = await server.workflows.execute(workflow, request).catch(async (error: unknown) => {
    throw error instanceof PawlApiError && error.code === 'WORKFLOW_NOT_FOUND' && version === undefined
      ? new Error(`${error.message}${await advice(server, workflow)}`)
      : error;
  });
  if (flags.wait !== true) {
    if (asJson) printJson(answer);
    else process.stdout.write(`${answer.executionId}\n`);
    if (answer.plannedStartAt !== undefined)
      process.stderr.write(`a rate limit delays it until ${answer.plannedStartAt}\n`);
    return EXIT.ok;
  }
  // Printed first, so that a caller who leaves can look the execution up.
  if (!asJson) process.stdout.write(`${answer.executionId}\n`);
  const there = executionThere(connect(flags, { patience: PATIENCE }), answer.executionId);
  const { failOnTaskFailure } = flags;
  return follow(there, { asJson, printsId: false, otherwise: 'goes on without you', failOnTaskFailure });
}

/** Suggests existing workflows, if the token may list them. */
async function advice({ workflows }: PawlClient, wanted: string): Promise<string> {
  const page = await workflows.list({ limit: MAX_PAGE }).catch(() => ({ data: [] }));
  const near = nearMiss(wanted, page.data.map(nameOf));
  const meant = near === undefined ? '.' : `; did you mean ${near}?`;
  return `${meant} \`pawl workflows\` lists what there is, \`pawl publish FILE\` adds to it`;
}
