// The load of the bench as a process of its own: the requests that the kubelets of a cluster send. It is controlled over the
// channel to its parent and ends with it.
import { nodeNames, podNames, startNode } from './cluster-names.ts';
import { forEachConcurrently } from './for-each-concurrently.ts';
import { Kubelets } from './kubelets.ts';
import { LoadMeter } from './load-meter.ts';
import type { LoadAnswer, LoadCall, LoadGenerator, LoadMethod } from './load-protocol.ts';
import { LoadRequests } from './load-requests.ts';
import { PlainMarker } from './plain-marker.ts';

const createsAtOnce = 64;

const meter = new LoadMeter();
let kubelets: Kubelets | undefined;
let marker: PlainMarker | undefined;

const generator: LoadGenerator = {
  async register({ target, size }) {
    const requests = new LoadRequests(target);
    const registered = new Kubelets({ requests, meter, podsPerNode: size.podsPerNode });
    const nodes = [...nodeNames(size.nodes), startNode];
    await forEachConcurrently(nodes, createsAtOnce, async (node) => {
      await requests.createNode(node);
      registered.add(node, await requests.createLease(node));
    });
    const pods = nodes.flatMap((node) => podNames(node, size.podsPerNode).map((pod) => ({ pod, node })));
    await forEachConcurrently(pods, createsAtOnce, async ({ pod, node }) => {
      await requests.createPod(pod, node);
      await requests.postPod(pod);
    });
    kubelets = registered;
    marker = new PlainMarker(new LoadRequests(target), size.podsPerNode);
  },
  async run() {
    known(kubelets).run();
  },
  async pause() {
    await known(kubelets).pause();
  },
  silence: (nodes) => known(kubelets).silence(nodes),
  resume: (nodes) => known(kubelets).resume(nodes),
  async figures() {
    return meter.read();
  },
  mark: (expiresAtMs) => known(marker).mark(expiresAtMs),
  unmark: (nodes) => known(marker).unmark(nodes),
};

function known<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('no nodes are registered');
  return part;
}

async function answer({ id, method, argument }: LoadCall): Promise<LoadAnswer> {
  const call = generator[method] as (argument: unknown) => Promise<unknown>;
  try {
    return { id, result: await call(argument) };
  } catch (error) {
    return { id, error: `${method satisfies LoadMethod}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

process.on('message', (call: LoadCall) => {
  void answer(call).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
