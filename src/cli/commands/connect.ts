import type { Connection } from '../../machinery/kube-client/connection.ts';
import { ConnectionError } from '../../machinery/kubeconfig/connection-error.ts';
import { loadConnection } from '../../machinery/kubeconfig/connection.ts';
import type { Logger } from '../../machinery/ports/logger.ts';
import { type CommandIo, printNote } from '../io/command-io.ts';

interface ConnectOptions {
  /** The name of the command, for error messages. */
  readonly command: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly logger: Logger;
}

/** Undefined if the client configuration cannot be loaded; the reason is printed. */
export async function connect(options: ConnectOptions, io: CommandIo): Promise<Connection | undefined> {
  const { command, kubeconfig, context, logger } = options;
  try {
    return await loadConnection({ logger, kubeconfig, context });
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    printNote(io, command, `cannot load the client configuration: ${error.message}`);
    return undefined;
  }
}
