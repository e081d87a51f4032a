import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { parsePattern } from '../../../../../src/hollow-cluster/kubelet/parse-pattern.ts';
import { decideImagePull, selectPullFailure } from '../../../../../src/hollow-cluster/kubelet/runtime/image-puller.ts';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { makePod, RuntimeWorld } from '../../../../support/runtime-world.ts';

const web = makePod('web');

const withImage = (name: string, image: string): Pod => makePod(name, { containers: [{ name: 'c', image }] });

let world: RuntimeWorld;
/** No image of `img` can be pulled. */
let patterned: RuntimeWorld;
beforeEach(() => {
  world = new RuntimeWorld();
  patterned = new RuntimeWorld({ unpullable: [parsePattern('img:*')] });
});

describe('an image that cannot be pulled', () => {
  it('is retried with exponential back-off, counted from the failure', async () => {
    const pod = makePod('web', {}, { 'hollow-kubelet/pull-failure': 'not found' });
    const first = await world.sync(pod);
    assert.deepEqual(first.waiting, [{ container: 'c', reason: 'ErrImagePull', message: 'not found' }]);
    assert.equal(first.failure, 'failed to "StartContainer" for "c" with ErrImagePull: "not found"');
    const seen = world.recorder.drafts.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
    assert.deepEqual(seen, [
      'Normal Pulling Pulling image "img:1"',
      'Warning Failed Failed to pull image "img:1": not found',
      'Warning Failed Error: ErrImagePull',
    ]);
    const startedAtMs = world.clock.monotonicMs();
    const pulls: number[] = [];
    for (let second = 1; second <= 700; second += 1) {
      await world.clock.advance(1_000);
      const before = world.reasons.filter((reason) => reason === 'Pulling').length;
      await world.sync(pod);
      const after = world.reasons.filter((reason) => reason === 'Pulling').length;
      if (after > before) pulls.push((world.clock.monotonicMs() - startedAtMs) / 1_000);
    }
    assert.deepEqual(pulls, [10, 30, 70, 150, 310, 610]);
  });

  it('reports ImagePullBackOff with the last error, as a failure, so that it is tried again soon', async () => {
    const pod = makePod('web', {}, { 'hollow-kubelet/pull-failure': 'not found' });
    await world.sync(pod);
    await world.clock.advance(4_000);
    const held = await world.sync(pod);
    const message = 'Back-off pulling image "img:1": ErrImagePull: not found';
    assert.deepEqual(held, {
      backoffEndsAtMs: undefined,
      waiting: [{ container: 'c', reason: 'ImagePullBackOff', message }],
      failure: `failed to "StartContainer" for "c" with ImagePullBackOff: ${JSON.stringify(message)}`,
    });
    const [event, failed] = world.recorder.drafts.slice(-2);
    const expected = ['Normal', 'BackOff', 'Back-off pulling image "img:1"'];
    assert.deepEqual([event?.type, event?.reason, event?.message], expected);
    assert.deepEqual([failed?.type, failed?.message], ['Warning', 'Error: ImagePullBackOff']);
  });

  it('can be one that matches a pattern; the annotation of a pod has another error', async () => {
    const found = 'not found: the image matches the pattern "img:*" of images that cannot be pulled';
    const [waiting] = (await patterned.sync(web)).waiting;
    assert.deepEqual(waiting, { container: 'c', reason: 'ErrImagePull', message: found });
    const annotated = makePod('own', {}, { 'hollow-kubelet/pull-failure': 'denied' });
    assert.equal((await patterned.sync(annotated)).waiting[0]?.message, 'denied');
    const other = withImage('other', 'fine:1');
    await patterned.sync(other);
    assert.equal(patterned.stateOf(other), 'running');
  });

  it('has a back-off of its own for each pod and image', async () => {
    const reasonOf = async (pod: Pod): Promise<string | undefined> => (await patterned.sync(pod)).waiting[0]?.reason;
    assert.equal(await reasonOf(withImage('web', 'img:1')), 'ErrImagePull');
    assert.equal(await reasonOf(withImage('web', 'img:1')), 'ImagePullBackOff');
    assert.equal(await reasonOf(withImage('web', 'img:2')), 'ErrImagePull');
    assert.equal(await reasonOf(withImage('db', 'img:1')), 'ErrImagePull');
    const changed = withImage('web', 'fine:1');
    await patterned.sync(changed);
    assert.equal(patterned.stateOf(changed), 'running', 'another image is pulled at once');
  });

  it('of an init container keeps the others from starting, of a container only that one', async () => {
    const containers = [
      { name: 'a', image: 'img:1' },
      { name: 'b', image: 'fine:1' },
    ];
    const namesOf = async (pod: Pod): Promise<readonly string[]> =>
      (await patterned.sync(pod)).waiting.map(({ container }) => container);
    const blocked = makePod('blocked', { initContainers: [{ name: 'i', image: 'img:1' }], containers });
    assert.deepEqual(await namesOf(blocked), ['i']);
    assert.ok(patterned.inspect(blocked).containers.every(({ kind }) => kind === 'sandbox'));
    const half = makePod('half', { containers });
    assert.deepEqual(await namesOf(half), ['a']);
    assert.deepEqual([patterned.stateOf(half, 'a'), patterned.stateOf(half, 'b')], [undefined, 'running']);
  });

  it('is pulled after the fault is withdrawn', async () => {
    const takeBack = world.runtime.script({ labels: {}, script: { pullFailure: 'not found' } });
    await world.sync(web);
    takeBack();
    await world.clock.advance(10_000);
    await world.sync(web);
    assert.equal(world.stateOf(web), 'running');
  });
});

describe('the pull of an image', () => {
  for (const { image = 'img:1', policy, present, missing } of [
    { policy: 'Always', present: 'pull', missing: 'pull' },
    { policy: 'IfNotPresent', present: 'use-present', missing: 'pull' },
    { policy: 'Never', present: 'use-present', missing: 'refuse' },
    { policy: undefined, present: 'use-present', missing: 'pull' },
    { image: 'img', policy: undefined, present: 'pull', missing: 'pull' },
    { image: 'reg:5000/img', policy: undefined, present: 'pull', missing: 'pull' },
    { image: 'reg:5000/img:latest', policy: undefined, present: 'pull', missing: 'pull' },
    { image: 'img@sha256:0', policy: undefined, present: 'use-present', missing: 'pull' },
    { image: 'img', policy: 'Never', present: 'use-present', missing: 'refuse' },
  ] as const) {
    it(`of ${image} with policy ${policy}: ${present} if it is present, ${missing} otherwise`, () => {
      const container = { name: 'c', image, ...(policy === undefined ? {} : { imagePullPolicy: policy }) };
      assert.deepEqual([decideImagePull(container, true), decideImagePull(container, false)], [present, missing]);
    });
  }
});

describe('the images that cannot be pulled', () => {
  for (const { pattern, fits, others } of [
    { pattern: 'web:404', fits: ['web:404'], others: ['web:4040', 'my/web:404', 'web', 'WEB:404'] },
    {
      pattern: 'registry.example/*',
      fits: ['registry.example/a/b:1'],
      others: ['registry-example/a', 'a/registry.example/'],
    },
    { pattern: 'web:?', fits: ['web:1'], others: ['web:', 'web:10'] },
    { pattern: '**', fits: ['a', 'a/b@sha256:0'], others: [] },
    { pattern: 'web:latest', fits: ['web', 'web:latest'], others: ['web:1', 'web@sha256:0'] },
    { pattern: 'web', fits: ['web'], others: ['web:latest', 'web:1'] },
    { pattern: 'reg:5000/web:latest', fits: ['reg:5000/web'], others: ['reg:5000/web:1'] },
  ]) {
    it(`match ${pattern} as a whole, with the tag latest if they have none`, () => {
      const patterns = ['none:*', pattern].map(parsePattern);
      for (const image of fits) {
        const expected = `not found: the image matches the pattern ${JSON.stringify(pattern)} of images that cannot be pulled`;
        assert.equal(selectPullFailure(image, patterns), expected);
      }
      for (const image of others) assert.equal(selectPullFailure(image, patterns), undefined, image);
    });
  }

  it('are none without a pattern', () => {
    assert.equal(selectPullFailure('web:404', []), undefined);
  });
});
