// Prints pages of a running controller.
import { stringify } from 'yaml';
import { escapeControls, escapeJsonControls } from '../../machinery/api/format-safe-text.ts';
import { ConnectionError } from '../../machinery/kubeconfig/connection-error.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { takeOperand } from '../flags/take-operand.ts';
import {
  type CommandIo,
  type CommandModule,
  exitFailure,
  exitSuccess,
  printNote,
  usageError,
} from '../io/command-io.ts';
import { explainFlags, type PageOutput, servedFormat } from './flags.ts';
import { accessProblems, type ClientValues } from './page-access.ts';
import { PageError, type PageSource, readPage } from './page-source.ts';
import { ServerPages } from './server-pages.ts';

/** A page and, for the output `wide`, the pages that belong to it. Paths are encoded. */
export interface WantedPage {
  /** The name of the command, for error messages. */
  readonly command: string;
  readonly path: string;
  readonly wide: readonly string[];
}

export const statusPage: WantedPage = {
  command: 'status',
  path: '/status',
  wide: ['/explain/nodes', '/explain/evictions'],
};

export const shadowPage: WantedPage = { command: 'shadow', path: '/shadow', wide: ['/status'] };

/** `nlc status`: leader, caches, zones, queues and holds of a running controller. */
export const statusCommand = pageCommand(statusPage);

/** `nlc shadow`: the comparison of a controller that runs with `--shadow` with the active controllers. */
export const shadowCommand = pageCommand(shadowPage);

/** A command without arguments that prints this page. */
function pageCommand(page: WantedPage): CommandModule {
  return {
    run: async (argv, io) => {
      const read = readFlags(argv, explainFlags);
      if ('problems' in read) return usageError(io, page.command, read.problems);
      return printControllerPage(page, read.values, io);
    },
  };
}

/** Prints the page and returns the exit code: 1, with the reason on standard error, if it cannot be read. */
async function printControllerPage(
  page: WantedPage,
  values: ClientValues & { readonly output: PageOutput },
  io: CommandIo,
): Promise<number> {
  const problems = accessProblems(values);
  if (problems.length > 0) return usageError(io, page.command, problems);
  return withPages(
    page.command,
    io,
    () => ServerPages.open(values),
    (source) => printPage(source, page, values.output, io),
  );
}

/** Opens the pages, closes them at the end, and reports why one of them cannot be read. */
export async function withPages(
  command: string,
  io: CommandIo,
  open: () => Promise<PageSource>,
  use: (source: PageSource) => Promise<number>,
): Promise<number> {
  try {
    const source = await open();
    try {
      return await use(source);
    } finally {
      await source.close();
    }
  } catch (error) {
    printNote(io, command, describeFailure(error));
    return exitFailure;
  }
}

export async function printPage(
  source: PageSource,
  { path, wide }: WantedPage,
  output: PageOutput,
  io: CommandIo,
): Promise<number> {
  const paths = output === 'wide' ? [path, ...wide] : [path];
  for (const each of paths) {
    const asked = `${each}?output=${servedFormat(output)}`;
    io.stdout(renderPage(await readPage(source, asked, io.signal), output));
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
function renderPage(body: string, output: PageOutput): string {
  if (output === 'json') return escapeJsonControls(body);
  if (output === 'yaml') return escapeControls(stringify(JSON.parse(body), { lineWidth: 0 }));
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

/** `nlc explain node/NAME` or `pod/NAMESPACE/NAME`: the state of the object in a running controller, and its next action. */
export const explainCommand: CommandModule = { run: explain };

async function explain(argv: readonly string[], io: CommandIo): Promise<number> {
  const { operand, others } = takeOperand(argv, explainFlags);
  const page = selectSubjectPage(operand);
  const read = readFlags(others, explainFlags);
  const problems = page === undefined ? [describeSubjectProblem(operand)] : [];
  if ('problems' in read) return usageError(io, 'explain', [...problems, ...read.problems], 'arguments');
  if (page === undefined) return usageError(io, 'explain', problems, 'arguments');
  return printControllerPage(page, read.values, io);
}
