/**
 * The API server under test: the embedded one, started for the test file, or a real one that is already running
 * (`CONFORMANCE_BACKEND=real` with CONFORMANCE_URL, CONFORMANCE_TOKEN and CONFORMANCE_CA_FILE).
 */
import { readFileSync } from 'node:fs';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import {
  type ApiServerOptions,
  type RunningApiServer,
  startApiServer,
} from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import { servedPolicies } from '../../../src/cli/simulation/policy-resource.ts';
import { RecordingLogger, SeededRandom } from '../../support/fakes.ts';

export interface Backend {
  readonly kind: 'embedded' | 'real';
  readonly url: string;
  readonly token: string;
  readonly ca: string | undefined;
  /** Compaction on request is a feature of the embedded server. */
  readonly forget: { compactNow(): void; shrinkWatchWindow(resource: string): void } | undefined;
  close(): Promise<void>;
}

const backendKind = process.env['CONFORMANCE_BACKEND'] === 'real' ? 'real' : 'embedded';

/** Why a test is skipped on this backend; false if it runs. */
export function only(kind: Backend['kind'], why: string): string | false {
  return backendKind === kind ? false : why;
}

/** `options` are those of the embedded server; a real one has RBAC and no controllers. */
export async function startBackend(options: Partial<ApiServerOptions> = {}): Promise<Backend> {
  return backendKind === 'real' ? realBackend() : embeddedBackend(options);
}

/** Closing it fails if the server logged an error. */
export async function embeddedBackend(
  options: Partial<ApiServerOptions> = {},
): Promise<Backend & { readonly server: RunningApiServer }> {
  const logger = new RecordingLogger();
  const random = new SeededRandom(Date.now());
  const server = await startApiServer({
    clock: new SystemClock(),
    random,
    logger,
    customResources: [servedPolicies()],
    ...options,
  });
  return {
    server,
    kind: 'embedded',
    url: server.url,
    token: server.adminToken,
    ca: server.caPem,
    forget: server,
    close: async () => {
      await server.close();
      const failures = logger.at('error');
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
  if (value === undefined || value === '') throw new Error(`CONFORMANCE_BACKEND=real requires ${name}`);
  return value;
}
