// Prints pages of a running controller.
import { escapeControls, escapeJsonControls } from '../../machinery/api/format-safe-text.ts';
import { ConnectionError } from '../../machinery/kubeconfig/connection-error.ts';
import type { FlagDefinition, FlagValues } from '../flags/flag-definition.ts';
import { type ReadFlags, readFlags } from '../flags/flag-schema.ts';
import { takeOperand } from '../flags/take-operand.ts';
import {
  type CommandIo,
  type CommandModule,
  exitFailure,
  exitSuccess,
  printNote,
  usageError,
} from '../io/command-io.ts';
import { explainFlags, type PageOutput, servedFormat } from '../client/flags.ts';
import { accessProblems } from '../client/page-access.ts';
import { PageError, type PageSource, readPage } from '../client/page-source.ts';
import { ServerPages } from '../client/server-pages.ts';

/** A page and, for the output `wide`, the pages that belong to it. Paths are encoded. */
interface WantedPage {
  /** The name of the command, for error messages. */
  readonly command: string;
  readonly path: string;
  readonly wide: readonly string[];
}

const statusPage: WantedPage = { command: 'status', path: '/status', wide: ['/explain/nodes', '/explain/evictions'] };
const shadowPage: WantedPage = { command: 'shadow', path: '/shadow', wide: ['/status'] };

/** How commands reach the pages of a controller: by an address, or in a cluster. */
export interface PageAccess<Values, Source extends PageSource = PageSource> {
  readonly read: (argv: readonly string[]) => ReadFlags<Values>;
  /** Invalid combinations of flags; absent: there are none. */
  readonly validate?: (values: Values) => readonly string[];
  readonly open: (values: Values) => Promise<Source>;
}

interface PageCall {
  /** The name of the command, for error messages. */
  readonly command: string;
  readonly argv: readonly string[];
  readonly io: CommandIo;
  /** What the problems of flags are about; default: flags. */
  readonly what?: string | undefined;
}

/**
 * Opens the pages, closes them at the end, and returns the exit code: 1, with the reason on standard error, if one of them
 * cannot be read.
 */
export async function withPages<Values, Source extends PageSource>(
  { command, argv, io, what }: PageCall,
  access: PageAccess<Values, Source>,
  use: (source: Source, values: Values) => Promise<number>,
): Promise<number> {
  const read = access.read(argv);
  if ('problems' in read) return usageError(io, command, read.problems, what);
  const { values } = read;
  const problems = access.validate?.(values) ?? [];
  if (problems.length > 0) return usageError(io, command, problems);
  try {
    const source = await access.open(values);
    try {
      return await use(source, values);
    } finally {
      await source.close();
    }
  } catch (error) {
    printNote(io, command, describeFailure(error));
    return exitFailure;
  }
}

interface PageCommands {
  /** Leader, caches, zones, queues and holds. */
  readonly status: CommandModule;
  /** The comparison of a controller that runs with `--shadow` with the active controllers. */
  readonly shadow: CommandModule;
  /** `node/NAME` or `pod/NAMESPACE/NAME`: the state of the object, and its next action. */
  readonly explain: CommandModule;
}

/** The commands that print pages. `what`: what invalid flags of a page without an argument are called. */
export function pageCommands<Values extends { readonly output: PageOutput }>(
  access: PageAccess<Values>,
  flags: readonly FlagDefinition[],
  what?: string,
): PageCommands {
  const print = (page: WantedPage, call: Omit<PageCall, 'command'>): Promise<number> =>
    withPages({ ...call, command: page.command }, access, (source, { output }) =>
      printPage(source, page, output, call.io),
    );
  const explain = async (argv: readonly string[], io: CommandIo): Promise<number> => {
    const { operand, others } = takeOperand(argv, flags);
    const page = selectSubjectPage(operand);
    if (page !== undefined) return print(page, { argv: others, io, what: 'arguments' });
    const read = access.read(others);
    const problems = [describeSubjectProblem(operand), ...('problems' in read ? read.problems : [])];
    return usageError(io, 'explain', problems, 'arguments');
  };
  return {
    status: { run: (argv, io) => print(statusPage, { argv, io, what }) },
    shadow: { run: (argv, io) => print(shadowPage, { argv, io, what }) },
    explain: { run: explain },
  };
}

/** `nlc status`, `nlc shadow` and `nlc explain`, of a running controller. */
export const { status, shadow, explain } = pageCommands<FlagValues<typeof explainFlags>>(
  {
    read: (argv) => readFlags(argv, explainFlags),
    validate: accessProblems,
    open: (values) => ServerPages.open(values),
  },
  explainFlags,
);

async function printPage(
  source: PageSource,
  { path, wide }: WantedPage,
  output: PageOutput,
  io: CommandIo,
): Promise<number> {
  const paths = output === 'wide' ? [path, ...wide] : [path];
  for (const each of paths) {
    const asked = `${each}?output=${servedFormat(output)}`;
    io.stdout(await renderPage(await readPage(source, asked, io.signal), output));
  }
  return exitSuccess;
}

/** Reason of a failure. It may have text of another process. */
function describeFailure(error: unknown): string {
  if (error instanceof PageError) return error.message;
  if (error instanceof ConnectionError) return `cannot load credentials: ${error.message}`;
  if (error instanceof SyntaxError) return `the response is not a page of a controller: ${error.message}`;
  throw error;
}

/** A page as served, for this output. Throws a SyntaxError if JSON is expected and the page is something else. */
async function renderPage(body: string, output: PageOutput): Promise<string> {
  if (output === 'json') return escapeJsonControls(body);
  if (output === 'yaml') return escapeControls((await import('yaml')).stringify(JSON.parse(body), { lineWidth: 0 }));
  return escapeControls(body);
}

/** The page of `node/NAME` or `pod/NAMESPACE/NAME`; the kind in singular, plural or kubectl's short form. Undefined for anything else. */
export function selectSubjectPage(subject: string | undefined): WantedPage | undefined {
  const [kind = '', ...names] = (subject ?? '').split('/');
  if (names.includes('')) return undefined;
  const encoded = names.map(encodeURIComponent).join('/');
  if (['node', 'nodes', 'no'].includes(kind) && names.length === 1)
    return { command: 'explain', path: `/explain/nodes/${encoded}`, wide: ['/explain/zones'] };
  if (['pod', 'pods', 'po'].includes(kind) && names.length === 2)
    return { command: 'explain', path: `/explain/pods/${encoded}`, wide: ['/status'] };
  return undefined;
}

export function describeSubjectProblem(subject: string | undefined): string {
  const got = subject === undefined ? 'got none' : `got ${JSON.stringify(subject)}`;
  return `object: must be node/NAME or pod/NAMESPACE/NAME (${got})`;
}
