// Two informers of each kind on the embedded API server, one with protobuf and one with JSON, with the tests that also run on
// a real kube-apiserver (test/control-plane/protobuf-informer.test.ts).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { startApiServer } from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import { RestClient } from '../../control-plane/rest-client.ts';
import { RecordingLogger, SeededRandom } from '../../support/fakes.ts';
import { testInformerPairs } from '../../support/informer-pairs.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();

testInformerPairs(async () => {
  const clock = new SystemClock();
  const server = await startApiServer({ clock, random: new SeededRandom(1), logger: new RecordingLogger() });
  const kubeconfigFile = join(folder, 'kubeconfig');
  writeFileSync(kubeconfigFile, server.kubeconfig());
  const client = new RestClient({ url: server.url, ca: server.caPem ?? '', token: server.adminToken });
  return {
    kubeconfigFile,
    client,
    restart: async () => {
      server.compactNow();
      for (const resource of ['nodes', 'pods', 'leases.coordination.k8s.io']) server.shrinkWatchWindow(resource);
      server.dropConnections();
      // Its next request may be on a connection whose end it has not seen.
      await client.send('GET', '/readyz').catch(() => {});
    },
    stop: async () => {
      await client.close();
      await server.close();
    },
  };
});
