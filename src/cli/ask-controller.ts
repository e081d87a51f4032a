// One question to a running controller, over the port that serves its metrics.
import { type CommandIo, exitDone, exitFailed } from './command-io.ts';

/** The controller answers from memory; whoever takes longer is not there. */
const answerMsMax = 10_000;

export interface Question {
  /** The command that asks, for messages. */
  readonly command: string;
  readonly server: string;
  readonly output: string;
  /** Of the page, encoded. */
  readonly path: string;
}

/** Prints the page and answers the exit code: 1, with the reason on standard error, when there is none. */
export async function askController({ command, server, output, path }: Question, io: CommandIo): Promise<number> {
  const url = new URL(`${path}?output=${output}`, server);
  const fail = (why: string): number => {
    io.stderr(`nlc ${command}: ${why}\n`);
    return exitFailed;
  };
  try {
    const response = await fetch(url, { signal: AbortSignal.any([io.signal, AbortSignal.timeout(answerMsMax)]) });
    const body = await response.text();
    if (!response.ok) return fail(`${server} answers ${response.status}: ${messageIn(body)}`);
    io.stdout(body);
    return exitDone;
  } catch (error) {
    return fail(`no answer from ${server} (${causeOf(error)}); --server names where the controller serves /metrics`);
  }
}

/** The message of our own problem pages; otherwise the first line of whatever came. */
function messageIn(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    return messageOf(parsed) ?? firstLine(body);
  } catch {
    return firstLine(body); // not JSON: somebody else's page
  }
}

function messageOf(parsed: unknown): string | undefined {
  if (typeof parsed !== 'object' || parsed === null || !('error' in parsed)) return undefined;
  const { error } = parsed;
  if (typeof error !== 'object' || error === null || !('message' in error)) return undefined;
  return String(error.message);
}

function firstLine(body: string): string {
  return body.split('\n', 1)[0] ?? '';
}

/** Node wraps what went wrong on the wire in one more error. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
