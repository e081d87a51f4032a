// Requests a page of a running controller from its metrics address.
import { Agent, request } from 'undici';
import { codeOf } from '../../adapters/kube-client/errors.ts';
import { ConnectionError } from '../../adapters/kubeconfig/connection-error.ts';
import { type CommandIo, type CommandModule, exitSuccess, exitFailure, usageError } from '../io/command-io.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { explainFlags } from './flags.ts';
import { accessProblems, type ClientValues, type PageAccess, pageAccess } from './page-access.ts';

/** Timeout of a request. The controller serves its pages from memory. */
const timeoutMs = 10_000;

interface PageRequest {
  /** The name of the command, for error messages. */
  readonly command: string;
  /** The URL path of the page, encoded. */
  readonly path: string;
  /** Server, output format and credentials. */
  readonly values: ClientValues;
}

/** A command without arguments that prints this page. */
export function pageCommand(command: string, path: string): CommandModule['run'] {
  return async (argv, io) => {
    const read = readFlags(argv, explainFlags);
    if ('problems' in read) return usageError(io, command, read.problems);
    return printControllerPage({ command, path, values: read.values }, io);
  };
}

/** Prints the page and returns the exit code: 1, with the reason on standard error, if it cannot be read. */
export async function printControllerPage({ command, path, values }: PageRequest, io: CommandIo): Promise<number> {
  const problems = accessProblems(values);
  if (problems.length > 0) return usageError(io, command, problems);
  try {
    io.stdout(await pageOf(path, values, io.signal));
    return exitSuccess;
  } catch (error) {
    io.stderr(`nlc ${command}: ${describeFailure(values.server, error)}\n`);
    return exitFailure;
  }
}

/** The controller responded with an error. */
class ErrorResponse extends Error {
  override readonly name = 'RefusedError';
}

async function pageOf(path: string, values: ClientValues, stopped: AbortSignal): Promise<string> {
  const access = await pageAccess(values);
  const agent = agentFor(access);
  try {
    const answer = await request(new URL(`${path}?output=${values.output}`, values.server), {
      dispatcher: agent,
      headers: { ...access.headers },
      signal: AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]),
    });
    const body = await answer.body.text();
    if (answer.statusCode < 300) return body;
    throw new ErrorResponse(
      `${values.server} returned ${answer.statusCode}: ${messageIn(body)}${hintAfter(answer.statusCode)}`,
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

function describeFailure(server: string, error: unknown): string {
  if (error instanceof ErrorResponse) return error.message;
  if (error instanceof ConnectionError) return `cannot load credentials: ${error.message}`;
  return `no response from ${server} (${causeOf(error)}); ${hintFor(server, error)}`;
}

function hintAfter(statusCode: number): string {
  return statusCode === 401 ? '; set --token, --token-file or --kubeconfig to authenticate' : '';
}

function hintFor(server: string, error: unknown): string {
  const code = codeOf(error) ?? '';
  if (/CERT|SIGNATURE/.test(code)) {
    return 'set --certificate-authority and --tls-server-name to verify the certificate, or --insecure-skip-tls-verify on loopback';
  }
  const plain = server.startsWith('http:') && ['ECONNRESET', 'UND_ERR_SOCKET'].includes(code);
  const secure = plain ? ', with https:// if it runs with --metrics-secure' : '';
  return `--server must be the address where the controller serves /metrics${secure}`;
}

/** The message of a controller's error page; otherwise the first line of the body. */
function messageIn(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    return messageOf(parsed) ?? firstLine(body);
  } catch {
    return firstLine(body); // not JSON: another server's page
  }
}

/** Error pages have `{error: {message}}`; authentication and authorization errors are a Status, as from the API server. */
function messageOf(parsed: unknown): string | undefined {
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const status: unknown = 'error' in parsed ? parsed.error : parsed;
  if (typeof status !== 'object' || status === null || !('message' in status)) return undefined;
  return String(status.message);
}

function firstLine(body: string): string {
  return body.split('\n', 1)[0] ?? '';
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // If a name has several addresses and all fail, the AggregateError has an empty message.
  return error.message === '' ? (codeOf(error) ?? error.name) : error.message;
}
