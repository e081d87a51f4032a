// One question to a running controller, over the port that serves its metrics.
import { Agent, request } from 'undici';
import { codeOf } from '../adapters/http-errors.ts';
import { ConnectionError } from '../adapters/connection-error.ts';
import { type CommandIo, exitDone, exitFailed, refuse } from './command-io.ts';
import { accessProblems, type AskingValues, type PageAccess, pageAccess } from './page-access.ts';

/** The controller answers from memory; whoever takes longer is not there. */
const answerMsMax = 10_000;

export interface Question {
  /** The command that asks, for messages. */
  readonly command: string;
  /** Of the page, encoded. */
  readonly path: string;
  /** Whom to ask, how, and as whom. */
  readonly values: AskingValues;
}

/** Prints the page and answers the exit code: 1, with the reason on standard error, when there is none. */
export async function askController({ command, path, values }: Question, io: CommandIo): Promise<number> {
  const problems = accessProblems(values);
  if (problems.length > 0) return refuse(io, command, problems);
  try {
    io.stdout(await pageOf(path, values, io.signal));
    return exitDone;
  } catch (error) {
    io.stderr(`nlc ${command}: ${whyNot(values.server, error)}\n`);
    return exitFailed;
  }
}

/** The controller answered, but with no page. */
class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

async function pageOf(path: string, values: AskingValues, stopped: AbortSignal): Promise<string> {
  const access = await pageAccess(values);
  const agent = agentFor(access);
  try {
    const answer = await request(new URL(`${path}?output=${values.output}`, values.server), {
      dispatcher: agent,
      headers: { ...access.headers },
      signal: AbortSignal.any([stopped, AbortSignal.timeout(answerMsMax)]),
    });
    const body = await answer.body.text();
    if (answer.statusCode < 300) return body;
    throw new RefusedError(
      `${values.server} answers ${answer.statusCode}: ${messageIn(body)}${hintAfter(answer.statusCode)}`,
    );
  } finally {
    await agent.destroy();
  }
}

function agentFor({ tls: { ca, cert, key, servername, rejectUnauthorized } }: PageAccess): Agent {
  return new Agent({
    connect: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(servername === undefined ? {} : { servername }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    },
  });
}

function whyNot(server: string, error: unknown): string {
  if (error instanceof RefusedError) return error.message;
  if (error instanceof ConnectionError) return `no credentials: ${error.message}`;
  return `no answer from ${server} (${causeOf(error)}); ${hintFor(server, error)}`;
}

function hintAfter(statusCode: number): string {
  return statusCode === 401 ? '; --token, --token-file and --kubeconfig say who asks' : '';
}

function hintFor(server: string, error: unknown): string {
  const code = codeOf(error) ?? '';
  if (/CERT|SIGNATURE/.test(code)) {
    return '--certificate-authority and --tls-server-name say whose certificate it is; on loopback --insecure-skip-tls-verify will do';
  }
  const plain = server.startsWith('http:') && ['ECONNRESET', 'UND_ERR_SOCKET'].includes(code);
  const secure = plain ? ', with https:// where it runs with --metrics-secure' : '';
  return `--server names where the controller serves /metrics${secure}`;
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

/** Pages say `{error: {message}}`; who is not let in gets a Status, as from the API server. */
function messageOf(parsed: unknown): string | undefined {
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const said: unknown = 'error' in parsed ? parsed.error : parsed;
  if (typeof said !== 'object' || said === null || !('message' in said)) return undefined;
  return String(said.message);
}

function firstLine(body: string): string {
  return body.split('\n', 1)[0] ?? '';
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Where a name has several addresses each of them has failed, and the whole has no words of its own.
  return error.message === '' ? (codeOf(error) ?? error.name) : error.message;
}
