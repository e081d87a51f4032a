import type { Connection } from '../../src/machinery/kube-client/connection.ts';
import { HttpKubeApi, type HttpKubeApiOptions } from '../../src/machinery/kube-client/kube-api.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { RecordingLogger, RecordingMeter } from './fakes.ts';

/** A client for tests: without rate limit, with the system clock, without log and metrics, unless overridden. */
export function makeKubeApi(connection: Connection, options: Partial<HttpKubeApiOptions> = {}): HttpKubeApi {
  return new HttpKubeApi({
    connection,
    clock: new SystemClock(),
    logger: new RecordingLogger(),
    meter: new RecordingMeter(),
    userAgent: 'nlc/test',
    fieldManager: 'nlc',
    qps: 0,
    burst: 0,
    ...options,
  });
}
