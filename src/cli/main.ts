#!/usr/bin/env node
// Entry point of the process: arguments, exit code, signals, and the handlers of uncaught errors.
import { type CommandIo, exitFailure } from './io/command-io.ts';
import { dispatch, selectArguments } from './commands/dispatch.ts';
import { processTerminal } from './io/process-terminal.ts';

/** Maximum time for which open handles keep the process running after a command has returned. */
const exitDelayMs = 3_000;

function processIo(): CommandIo {
  return {
    openTerminal: () => processTerminal(process.stdin, process.stdout),
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    isTerminal: process.stdout.isTTY,
    env: process.env,
    signal: stopSignal(),
  };
}

/** Aborted by the first SIGTERM or SIGINT (graceful shutdown). The second one exits at once with code 1. */
function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stopping.signal.aborted) process.exit(exitFailure);
      stopping.abort();
    });
  }
  return stopping.signal;
}

/** An uncaught error leaves the process in an unknown state, so it exits. */
function die(error: unknown): never {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`nlc: unexpected error, exiting: ${text}\n`);
  process.exit(exitFailure);
}

/** EPIPE: the reader closed the pipe, as in `nlc help | head`. */
function exitOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(exitFailure);
  die(error);
}

process.on('uncaughtException', die);
process.on('unhandledRejection', die);
process.stdout.on('error', exitOnClosedPipe);
process.stderr.on('error', () => process.exit(exitFailure));

const [, path = '', ...argv] = process.argv;
process.exitCode = await dispatch(selectArguments(path, argv), processIo());
setTimeout(() => process.exit(), exitDelayMs).unref();
