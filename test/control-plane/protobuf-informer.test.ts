// Two informers of each kind on a real kube-apiserver, one with protobuf and one with JSON: their stores must be equal after
// the initial state, changes, a restart of the server and a paginated list.
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { testInformerPairs } from '../support/informer-pairs.ts';
import { startControlPlane } from './control-plane.ts';

const binaries = findControlPlane();

testInformerPairs(
  async () => {
    const plane = await startControlPlane();
    return {
      kubeconfigFile: plane.kubeconfigFile,
      client: plane.client(),
      restart: () => plane.restartApiServer(),
      stop: () => plane.stop(),
    };
  },
  'missing' in binaries ? binaries.missing : false,
);
