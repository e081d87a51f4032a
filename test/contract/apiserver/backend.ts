/**
 * Which API server the conformance suite talks to: the embedded one, started for the file, or a real one that is running
 * already (`CONFORMANCE_BACKEND=real` with CONFORMANCE_URL, CONFORMANCE_TOKEN and CONFORMANCE_CA_FILE).
 */
import { readFileSync } from 'node:fs';
import { SystemClock } from '../../../src/adapters/system-clock.ts';
import { startApiServer } from '../../../src/apiserver/http/api-server.ts';
import { KeepingLogger, SeededRandom } from '../../support/quiet.ts';

export interface Backend {
  readonly kind: 'embedded' | 'real';
  readonly url: string;
  readonly token: string;
  readonly ca: string | undefined;
  /** Only the embedded server forgets on command. */
  readonly forget: { compactNow(): void; shrinkWatchWindow(resource: string): void } | undefined;
  close(): Promise<void>;
}

export const backendKind = process.env['CONFORMANCE_BACKEND'] === 'real' ? 'real' : 'embedded';

/** The reason for which a test is skipped on this backend, or false. */
export function only(kind: Backend['kind'], why: string): string | false {
  return backendKind === kind ? false : why;
}

export async function startBackend(): Promise<Backend> {
  return backendKind === 'real' ? realBackend() : embeddedBackend();
}

async function embeddedBackend(): Promise<Backend> {
  const logger = new KeepingLogger();
  const server = await startApiServer({ clock: new SystemClock(), random: new SeededRandom(Date.now()), logger });
  return {
    kind: 'embedded',
    url: server.url,
    token: server.adminToken,
    ca: server.caPem,
    forget: server,
    close: async () => {
      await server.close();
      const failures = logger.lines.filter(({ level }) => level === 'error');
      for (const { message, fields } of failures) console.error(message, fields);
      if (failures.length > 0) throw new Error(`the server logged ${failures.length} failures`);
    },
  };
}

function realBackend(): Backend {
  const caFile = process.env['CONFORMANCE_CA_FILE'];
  return {
    kind: 'real',
    url: need('CONFORMANCE_URL'),
    token: need('CONFORMANCE_TOKEN'),
    ca: caFile === undefined ? undefined : readFileSync(caFile, 'utf8'),
    forget: undefined,
    close: async () => {},
  };
}

function need(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`CONFORMANCE_BACKEND=real needs ${name}`);
  return value;
}
