import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { manifestText } from '../../../src/cli/simulation/hollow-nodes/manifests/manifest-text.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';
import { HollowFleet } from '../../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { configAnnotations } from '../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { FileSource } from '../../../src/hollow-cluster/kubelet/static-pods/file-source.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { aManifest, ManifestFolder } from '../../support/manifest-folder.ts';
import { MemoryApi } from '../../support/memory-api.ts';
import { RecordingLogger, SeededRandom } from '../../support/fakes.ts';

const secondMs = 1_000;
const key = 'kube-system/web-n1';

describe('a kubelet with static pods', () => {
  let end = async (): Promise<void> => {};
  afterEach(() => end());

  function aWorld({ cut = false } = {}) {
    const clock = new ManualClock();
    const api = new MemoryApi(clock);
    const logger = new RecordingLogger();
    const folder = new ManifestFolder();
    const common = { files: folder, text: manifestText, clock, logger };
    const fleet = new HollowFleet({
      nodes: [{ name: 'n1', labels: {} }],
      api,
      clock,
      random: new SeededRandom(1),
      logger,
      sources: (nodeName) => [new FileSource({ ...common, nodeName })],
    });
    if (cut) fleet.cutOff(['n1']);
    const life = new AbortController();
    const running = fleet.run(life.signal);
    end = async () => {
      life.abort();
      await running;
      assert.equal(clock.sleeping, 0, 'no pending sleeps after the end');
      end = async () => {};
    };
    const mirror = (): Pod | undefined => api.peek('pods', key);
    /** Names of the pods with a running container, with its image. */
    const runs = (): readonly string[] => {
      const host = fleet.kubelet('n1')?.host;
      assert.ok(host !== undefined);
      return host
        .list()
        .flatMap(({ uid, name }) => {
          const { containers } = host.inspect(uid);
          const live = containers.filter(({ kind, state }) => kind === 'container' && state === 'running');
          return live.map(({ image }) => `${name} ${image}`);
        })
        .toSorted((a, b) => (a < b ? -1 : 1));
    };
    return { api, clock, fleet, folder, mirror, runs, signal: life.signal };
  }

  it('runs them with mirrors, and removes both with their file', async () => {
    const { clock, folder, mirror, runs } = aWorld();
    folder.write('web.yaml', aManifest('web'));
    await clock.advance(15 * secondMs);
    assert.deepEqual(runs(), ['web-n1 img:1']);
    assert.equal(mirror()?.status?.phase, 'Running', 'its status is that of the static pod');
    folder.delete('web.yaml');
    await clock.advance(15 * secondMs);
    assert.deepEqual(runs(), []);
    assert.equal(mirror(), undefined);
  });

  it('writes the final status of a removed static pod before its mirror is deleted', async () => {
    const { api, clock, folder, mirror } = aWorld();
    folder.write('web.yaml', aManifest('web'));
    await clock.advance(15 * secondMs);
    const uid = mirror()?.metadata.uid;
    const from = api.requests.length;
    folder.delete('web.yaml');
    await clock.advance(30 * secondMs);
    const writes = api.requests.slice(from).filter(({ name, verb }) => name === 'web-n1' && verb !== 'get');
    const verbs = writes.map(({ verb }) => verb);
    assert.deepEqual(verbs, ['patch', 'delete']);
    const { metadata, status } = (writes[0]?.body ?? {}) as Partial<Pod>;
    assert.deepEqual(metadata, { uid });
    assert.equal(status?.phase, undefined, 'the phase of a static pod stays');
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0);
    const message = 'containers with unready status: [c]';
    const seen = status?.conditions?.map(({ lastTransitionTime: _since, ...condition }) => condition);
    assert.deepEqual(seen, [
      {
        type: 'PodReadyToStartContainers',
        status: 'False',
        reason: 'PodSandboxNotReady',
        message: 'pod sandbox is not ready',
      },
      { type: 'Ready', status: 'False', reason: 'ContainersNotReady', message },
      { type: 'ContainersReady', status: 'False', reason: 'ContainersNotReady', message },
    ]);
  });

  it('runs them without an API server, and does not stop pods that it cannot read [C10]', async () => {
    const { api, clock, fleet, folder, runs } = aWorld();
    await api.create('pods', {
      metadata: { name: 'bound', namespace: 'default' },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'img:1' }] },
    } as Pod);
    await clock.advance(15 * secondMs);
    assert.deepEqual(runs(), ['bound img:1']);
    fleet.cutOff(['n1']);
    fleet.crash(['n1']);
    await clock.advance(secondMs);
    folder.write('web.yaml', aManifest('web'));
    for (let minute = 0; minute < 10; minute++) {
      await clock.advance(60 * secondMs);
      assert.deepEqual(runs(), ['bound img:1', 'web-n1 img:1']);
    }
  });

  it('runs them before it has ever reached the API server, and creates their mirrors after that [C10]', async () => {
    const { clock, fleet, folder, mirror, runs } = aWorld({ cut: true });
    folder.write('web.yaml', aManifest('web'));
    await clock.advance(15 * secondMs);
    assert.deepEqual(runs(), ['web-n1 img:1']);
    assert.equal(mirror(), undefined);
    fleet.reconnect(['n1']);
    await clock.advance(120 * secondMs);
    assert.equal(mirror()?.status?.phase, 'Running');
  });

  it('starts an edited one only after the previous one has stopped [C12]', async () => {
    const { clock, folder, mirror, runs } = aWorld();
    folder.write('web.yaml', aManifest('web'));
    await clock.advance(15 * secondMs);
    const hash = mirror()?.metadata.annotations?.[configAnnotations.hash];
    folder.write('web.yaml', aManifest('web', { image: 'img:2' }));
    const seen = new Set<string>();
    for (let step = 0; step < 400; step++) {
      await clock.advance(100);
      seen.add(runs().join());
    }
    assert.deepEqual([...seen], ['web-n1 img:1', '', 'web-n1 img:2']);
    assert.notEqual(mirror()?.metadata.annotations?.[configAnnotations.mirror], hash);
    assert.equal(mirror()?.spec?.containers?.[0]?.image, 'img:2');
  });

  it('keeps a static pod running when its mirror is deleted, and recreates the mirror [C21]', async () => {
    const { api, clock, folder, mirror, runs, signal } = aWorld();
    folder.write('web.yaml', aManifest('web'));
    await clock.advance(15 * secondMs);
    const nodeUid = api.peek('nodes', 'n1')?.metadata.uid;
    for (const gracePeriodSeconds of [30, 0]) {
      const uid = mirror()?.metadata.uid ?? '';
      await api.delete('pods', { namespace: 'kube-system', name: 'web-n1' }, { uid, gracePeriodSeconds, signal });
      await clock.advance(secondMs);
      const [owner] = mirror()?.metadata.ownerReferences ?? [];
      assert.notEqual(mirror()?.metadata.uid, uid);
      assert.equal(mirror()?.metadata.deletionTimestamp, undefined);
      assert.deepEqual([owner?.kind, owner?.uid, owner?.controller], ['Node', nodeUid, true]);
      assert.deepEqual(runs(), ['web-n1 img:1']);
    }
    await clock.advance(15 * secondMs);
    assert.equal(mirror()?.status?.phase, 'Running');
  });
});
