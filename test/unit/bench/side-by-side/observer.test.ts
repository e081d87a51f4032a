import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Observer } from '../../../bench/side-by-side/observer.ts';
import type { RestClient, WatchFrame } from '../../../control-plane/rest-client.ts';

const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };

interface NodeState {
  readonly ready: string;
  readonly taints?: readonly { readonly key: string; readonly effect: string }[];
}

/** An API server whose watches deliver what the test adds. */
class Frames {
  readonly #queues = { nodes: [] as WatchFrame[], pods: [] as WatchFrame[] };

  node(name: string, { ready, taints = [] }: NodeState): void {
    const status = { conditions: [{ type: 'Ready', status: ready }] };
    this.#queues.nodes.push(frame({ metadata: { name, resourceVersion: '2' }, spec: { taints }, status }));
  }

  pod(name: string, nodeName: string, ready: string): void {
    const status = { conditions: [{ type: 'Ready', status: ready }] };
    this.#queues.pods.push(frame({ metadata: { name, resourceVersion: '2' }, spec: { nodeName }, status }));
  }

  client(): Pick<RestClient, 'must' | 'watch'> {
    const queues = this.#queues;
    return {
      must: <T>() => Promise.resolve({ metadata: { resourceVersion: '1' } } as T),
      async *watch(path: string, signal: AbortSignal) {
        const queue = path.startsWith('/api/v1/nodes') ? queues.nodes : queues.pods;
        while (!signal.aborted) {
          yield* queue.splice(0);
          await turn();
        }
      },
    };
  }
}

function frame(object: object): WatchFrame {
  return { type: 'MODIFIED', object: object as WatchFrame['object'] };
}

async function observing(act: (observer: Observer, frames: Frames) => Promise<void>): Promise<void> {
  const frames = new Frames();
  const observer = await Observer.start(frames.client());
  try {
    await act(observer, frames);
  } finally {
    observer.stop();
  }
}

/** Until frames that were added have been delivered. */
async function delivered(): Promise<void> {
  for (let count = 0; count < 5; count += 1) await turn();
}

test('an episode has the first time of each change of its own nodes and pods', async () => {
  await observing(async (observer, frames) => {
    const episode = observer.begin(['a'], 1);
    frames.node('a', { ready: 'Unknown' });
    frames.node('b', { ready: 'Unknown' });
    await delivered();
    const unknownAtMs = episode.unknownAtMs.get('a');
    frames.node('a', { ready: 'Unknown', taints: [unreachable] });
    frames.pod('pod-a', 'a', 'False');
    frames.pod('pod-b', 'b', 'False');
    await delivered();
    assert.equal(episode.unknownAtMs.get('a'), unknownAtMs);
    assert.deepEqual([...episode.unknownAtMs.keys()], ['a']);
    assert.deepEqual([...episode.noExecuteAtMs.keys()], ['a']);
    assert.deepEqual([...episode.podAtMs.keys()], ['pod-a']);
    assert.equal(episode.isComplete, true);
  });
});

test('a node that becomes Unknown is reported once as falsely so, unless it was silenced or is recovering', async () => {
  await observing(async (observer, frames) => {
    const episode = observer.begin(['silenced'], 0);
    frames.node('silenced', { ready: 'Unknown' });
    frames.node('renewing', { ready: 'Unknown' });
    await delivered();
    observer.end(episode);
    frames.node('silenced', { ready: 'Unknown', taints: [unreachable] });
    await delivered();
    assert.deepEqual(observer.takeFalselyUnknown(), ['renewing']);
    assert.deepEqual(observer.takeFalselyUnknown(), []);
    frames.node('silenced', { ready: 'True' });
    frames.node('silenced', { ready: 'Unknown' });
    await delivered();
    assert.deepEqual(observer.takeFalselyUnknown(), ['silenced']);
  });
});

test('a node is unhealthy until it is Ready and has no health taint', async () => {
  await observing(async (observer, frames) => {
    const names = (): readonly string[] => [...observer.unhealthy().keys()];
    frames.node('a', { ready: 'Unknown', taints: [unreachable] });
    await delivered();
    assert.deepEqual(names(), ['a']);
    frames.node('a', { ready: 'True', taints: [unreachable] });
    await delivered();
    assert.deepEqual(names(), ['a']);
    frames.node('a', { ready: 'True', taints: [{ key: 'other', effect: 'NoSchedule' }] });
    await delivered();
    assert.deepEqual(names(), []);
  });
});
