import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Pod, PodSpec } from '../../../src/machinery/api/pod.ts';
import { parsePattern } from '../../../src/hollow-cluster/kubelet/parse-pattern.ts';
import { KubeletWorld, secondMs } from '../../support/kubelet-world.ts';

const failure = 'not found: the image matches the pattern "bad:*" of images that cannot be pulled';
const notReady = 'containers with unready status: [c]';

function specOf(image: string, more: Readonly<Record<string, unknown>> = {}): PodSpec {
  return { containers: [{ name: 'c', image, ...more }] };
}

describe('a pod whose image cannot be pulled', () => {
  let world: KubeletWorld;

  beforeEach(async () => {
    world = new KubeletWorld({ profile: { unpullableImages: [parsePattern('bad:*')] } });
    await world.advance(5 * secondMs);
  });

  afterEach(async () => {
    assert.equal(await world.end(), 0, 'no pending sleeps after the end');
    assert.deepEqual(world.logger.at('error'), []);
  });

  const waiting = (name: string): unknown => world.container(name)?.state?.waiting;

  /** Another client changes the image, which increases the generation. */
  async function setImage(name: string, image: string): Promise<void> {
    const pod = world.pod(name);
    assert.ok(pod !== undefined);
    const metadata = { ...pod.metadata, generation: (pod.metadata.generation ?? 1) + 1 };
    const changed: Pod = { ...pod, metadata, spec: { ...pod.spec, ...specOf(image) } };
    await world.api.replace('pods', changed);
  }

  it('waits with ErrImagePull, then with ImagePullBackOff, and is not ready', async () => {
    await world.bind('web', specOf('bad:1'), { generation: 1 });
    await world.advance(2 * secondMs);
    assert.deepEqual(waiting('web'), { reason: 'ErrImagePull', message: failure });
    assert.equal(world.phase('web'), 'Pending');
    for (const type of ['ContainersReady', 'Ready']) {
      const { status, reason, message, observedGeneration } = world.condition('web', type) ?? {};
      assert.deepEqual([status, reason, message, observedGeneration], ['False', 'ContainersNotReady', notReady, 1]);
    }
    for (const type of ['PodReadyToStartContainers', 'Initialized', 'PodScheduled'])
      assert.equal(world.condition('web', type)?.status, 'True', type);
    await world.advance(16 * secondMs);
    const message = `Back-off pulling image "bad:1": ErrImagePull: ${failure}`;
    assert.deepEqual(waiting('web'), { reason: 'ImagePullBackOff', message });
  });

  it('is pulled again with back-off, with the Events of a kubelet', async () => {
    const { metadata } = await world.bind('web', specOf('bad:1'));
    await world.advance(2 * secondMs);
    const drafts = world.recorder.drafts.filter(({ about }) => about.uid === metadata.uid);
    assert.deepEqual(
      drafts.map(({ type, reason, message }) => `${type} ${reason} ${message}`),
      [
        'Normal Pulling Pulling image "bad:1"',
        `Warning Failed Failed to pull image "bad:1": ${failure}`,
        'Warning Failed Error: ErrImagePull',
        'Normal BackOff Back-off pulling image "bad:1"',
        'Warning Failed Error: ImagePullBackOff',
      ],
    );
    // A sync each 10 to 15 s pulls when the back-off of 10, 20, 40, 80 and 160 s is over.
    const pulls: number[] = [];
    for (let second = 0; second < 420; second += 1) {
      const before = world.events('Pulling').length;
      await world.advance(secondMs);
      if (world.events('Pulling').length > before) pulls.push(second);
    }
    const gaps = [0, ...pulls].flatMap((at, index, all) => (index === 0 ? [] : [at - (all[index - 1] ?? 0)]));
    assert.equal(gaps.length, 5, String(gaps));
    for (const [index, gap] of gaps.entries())
      assert.ok(gap >= 10 * 2 ** index - 3 && gap <= 10 * 2 ** index + 16, String(gaps));
  });

  it('runs as soon as its image is changed to one that can be pulled', async () => {
    await world.bind('web', specOf('bad:1'), { generation: 1 });
    await world.advance(100 * secondMs);
    await setImage('web', 'good:1');
    await world.advance(3 * secondMs);
    assert.deepEqual([world.phase('web'), world.container('web')?.restartCount], ['Running', 0]);
    for (const type of ['ContainersReady', 'Ready', 'Initialized', 'PodScheduled']) {
      const { status, observedGeneration } = world.condition('web', type) ?? {};
      assert.deepEqual([status, observedGeneration], ['True', 2], type);
    }
  });

  it('stops and waits if its image is changed to one that cannot be pulled, and runs again with the former one', async () => {
    await world.bind('web', specOf('good:1'), { generation: 1 });
    await world.advance(5 * secondMs);
    await setImage('web', 'bad:1');
    await world.advance(5 * secondMs);
    const { state, lastState, ready } = world.container('web') ?? {};
    assert.deepEqual([state?.waiting?.reason, ready], ['ErrImagePull', false]);
    assert.equal(lastState?.terminated?.exitCode, 0);
    assert.deepEqual([world.phase('web'), world.condition('web', 'Ready')?.status], ['Running', 'False']);
    await setImage('web', 'good:1');
    await world.advance(20 * secondMs);
    assert.deepEqual([world.container('web')?.ready, world.container('web')?.restartCount], [true, 1]);
  });

  it('is deleted at once', async () => {
    await world.bind('web', specOf('bad:1'));
    await world.advance(60 * secondMs);
    await world.remove('web');
    await world.advance(3 * secondMs);
    assert.equal(world.pod('web'), undefined);
    const pulls = world.events('Pulling').length;
    await world.advance(300 * secondMs);
    assert.equal(world.events('Pulling').length, pulls);
    assert.equal(world.kubelet.host.podCount, 0);
  });

  it('waits again after a restart of the kubelet, which pulls at once, and runs when it can', async () => {
    await world.bind('web', specOf('bad:1'));
    await world.advance(100 * secondMs);
    const pulls = world.events('Pulling').length;
    world.kubelet.crash();
    await world.advance(5 * secondMs);
    assert.equal(world.events('Pulling').length, pulls + 1);
    assert.equal(world.phase('web'), 'Pending');
    await world.advance(11 * secondMs);
    assert.deepEqual(waiting('web'), { reason: 'ErrImagePull', message: failure });
    await setImage('web', 'good:1');
    await world.advance(5 * secondMs);
    assert.equal(world.phase('web'), 'Running');
  });

  it('waits with ErrImageNeverPull if its policy is Never and the image is missing, not if another pod has pulled it', async () => {
    const never = { imagePullPolicy: 'Never' };
    await world.bind('web', specOf('good:1', never));
    await world.advance(2 * secondMs);
    const message = 'Container image "good:1" is not present with pull policy of Never';
    assert.deepEqual(waiting('web'), { reason: 'ErrImageNeverPull', message });
    await world.bind('db', specOf('good:1'));
    await world.advance(20 * secondMs);
    assert.deepEqual([world.phase('db'), world.phase('web')], ['Running', 'Running']);
  });

  it('has init containers that wait for their image before the others start', async () => {
    const initContainers = [{ name: 'i', image: 'bad:1' }];
    await world.bind('web', { ...specOf('good:1'), initContainers });
    await world.advance(2 * secondMs);
    const [init] = world.pod('web')?.status?.initContainerStatuses ?? [];
    assert.deepEqual(init?.state?.waiting, { reason: 'ErrImagePull', message: failure });
    assert.deepEqual(waiting('web'), { reason: 'PodInitializing' });
    const { status, reason, message } = world.condition('web', 'Initialized') ?? {};
    const incomplete = 'containers with incomplete status: [i]';
    assert.deepEqual([status, reason, message], ['False', 'ContainersNotInitialized', incomplete]);
    assert.equal(world.phase('web'), 'Pending');
  });
});
