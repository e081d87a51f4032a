import type { Connection } from '../../src/adapters/http-connection.ts';
import { HttpKubeApi, type HttpKubeApiOptions } from '../../src/adapters/http-kube-api.ts';
import { SystemClock } from '../../src/adapters/system-clock.ts';
import { KeepingLogger, KeepingMeter } from './quiet.ts';

/** A client of this server for a test: as fast as it can, on the machine's clock, telling nobody; unless told otherwise. */
export function makeKubeApi(connection: Connection, options: Partial<HttpKubeApiOptions> = {}): HttpKubeApi {
  return new HttpKubeApi({
    connection,
    clock: new SystemClock(),
    logger: new KeepingLogger(),
    meter: new KeepingMeter(),
    userAgent: 'nlc/test',
    fieldManager: 'nlc',
    qps: 0,
    burst: 0,
    ...options,
  });
}
