// Started by the bench of field ownership: an embedded API server, until the parent process disconnects.
import { startApiServer } from '../../src/hollow-cluster/apiserver/http/api-server.ts';
import { RecordingLogger, SeededRandom } from '../support/fakes.ts';
import type { Access } from './owner-http.ts';
import { HeartbeatClock } from './owned-writes.ts';

const server = await startApiServer({
  clock: new HeartbeatClock(),
  random: new SeededRandom(1),
  logger: new RecordingLogger(),
});
const access: Access = { port: server.port, token: server.adminToken, ca: server.caPem ?? '' };
process.send?.(access);
process.once('disconnect', () => void server.close());
