// Prints pages of a running controller.
import { ConnectionError } from '../../machinery/kubeconfig/connection-error.ts';
import { readFlags } from '../flags/flag-schema.ts';
import {
  type CommandIo,
  type CommandModule,
  exitFailure,
  exitSuccess,
  printNote,
  usageError,
} from '../io/command-io.ts';
import { explainFlags } from './flags.ts';
import { accessProblems, type ClientValues } from './page-access.ts';
import { type PageOutput, servedFormat } from './page-output.ts';
import { PageError, type PageSource, readPage } from './page-source.ts';
import { renderPage } from './rendered-page.ts';
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

/** A command without arguments that prints this page. */
export function pageCommand(page: WantedPage): CommandModule['run'] {
  return async (argv, io) => {
    const read = readFlags(argv, explainFlags);
    if ('problems' in read) return usageError(io, page.command, read.problems);
    return printControllerPage(page, read.values, io);
  };
}

/** Prints the page and returns the exit code: 1, with the reason on standard error, if it cannot be read. */
export async function printControllerPage(
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

/** It may have text of another process. */
function describeFailure(error: unknown): string {
  if (error instanceof PageError) return error.message;
  if (error instanceof ConnectionError) return `cannot load credentials: ${error.message}`;
  if (error instanceof SyntaxError) return `the response is not a page of a controller: ${error.message}`;
  throw error;
}
