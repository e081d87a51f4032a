import { join } from 'node:path';
import { startApiServer } from '../../../hollow-cluster/apiserver/http/api-server.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import { ControlPlanePrograms } from '../programs/control-plane-programs.ts';
import { servedPolicies } from '../policy-resource.ts';
import { defaultTolerationSeconds } from './cluster.ts';
import type { DemoApiServer } from './environment.ts';

interface ApiServerStart {
  /** Folder with the binaries of a real control plane; undefined: the embedded API server. */
  readonly controlPlane: string | undefined;
  /** For files of this run. */
  readonly folder: string;
  readonly port: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

interface StartedApiServer {
  readonly server: DemoApiServer;
  /** Programs of a real control plane. */
  readonly programs: readonly { readonly file: string; readonly pid: number }[];
}

/** The API server of the demo. Rejects with the reason if it does not become ready. */
export async function startDemoApiServer(start: ApiServerStart): Promise<StartedApiServer> {
  const { controlPlane: binaries, port, clock, random, logger, signal } = start;
  if (binaries !== undefined) {
    const folder = join(start.folder, 'control-plane');
    const plane = await ControlPlanePrograms.start({ binaries, folder, port, clock, signal, defaultTolerationSeconds });
    return { server: plane, programs: plane.running };
  }
  const customResources = [servedPolicies()];
  const options = { port, clock, random, logger, defaultTolerationSeconds, customResources };
  return { server: await startApiServer(options), programs: [] };
}
