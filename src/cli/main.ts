#!/usr/bin/env node
// The process itself: arguments in, exit code out, signals, and the net under everything that was not foreseen.
import { type CommandIo, exitFailed } from './command-io.ts';
import { dispatch } from './dispatch.ts';

/** After a command has returned, whatever still holds the process open gets this long. */
const lingerMs = 3_000;

function processIo(): CommandIo {
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    isTerminal: process.stdout.isTTY,
    env: process.env,
    signal: stopSignal(),
  };
}

/** The first SIGTERM or SIGINT asks to finish. The second means it. */
function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stopping.signal.aborted) process.exit(exitFailed);
      stopping.abort();
    });
  }
  return stopping.signal;
}

/** Nothing should come here. If something does, going on would mean acting on a state that nobody understands. */
function die(error: unknown): never {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`nlc: unexpected failure, ending: ${text}\n`);
  process.exit(exitFailed);
}

/** `nlc help | head`: who reads has seen enough. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(exitFailed);
  die(error);
}

process.on('uncaughtException', die);
process.on('unhandledRejection', die);
process.stdout.on('error', endWithReader);
process.stderr.on('error', () => process.exit(exitFailed));

process.exitCode = await dispatch(process.argv.slice(2), processIo());
setTimeout(() => process.exit(), lingerMs).unref();
