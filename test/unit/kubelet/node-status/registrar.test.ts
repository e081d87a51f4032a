import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { deriveMachine } from '../../../../src/kubelet/derive-machine.ts';
import { MachineHealth } from '../../../../src/kubelet/node-status/machine-health.ts';
import { NodeComposer } from '../../../../src/kubelet/node-status/node-composer.ts';
import { Registrar } from '../../../../src/kubelet/node-status/registrar.ts';
import { statusSetters } from '../../../../src/kubelet/node-status/status-setters.ts';
import { Turnstile } from '../../../../src/kubelet/turnstile.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryApi } from '../../../support/memory-api.ts';
import { KeepingLogger } from '../../../support/quiet.ts';

describe('registration', () => {
  let clock: ManualClock;
  let api: MemoryApi;
  let registrar: Registrar;

  beforeEach(() => {
    clock = new ManualClock();
    api = new MemoryApi(clock);
    const logger = new KeepingLogger();
    const machine = deriveMachine(0);
    const composer = new NodeComposer({
      setters: statusSetters(),
      machine,
      health: new MachineHealth(),
      clock,
      logger,
    });
    const labels = { 'topology.kubernetes.io/zone': 'a' };
    registrar = new Registrar({
      name: 'node-1',
      labels,
      api,
      composer,
      registrations: new Turnstile(1),
      clock,
      logger,
    });
  });

  it('waits before each attempt, doubling from a tenth of a second up to seven', async () => {
    api.fail('create', 'nodes', 'unavailable', 9);
    const started = clock.monotonicMs();
    const attempts: number[] = [];
    let seen = 0;
    const registered = registrar.register(new AbortController().signal);
    while (api.peek('nodes', 'node-1') === undefined) {
      await clock.advance(100);
      const made = api.count('create', 'nodes');
      if (made > seen) attempts.push(clock.monotonicMs() - started);
      seen = made;
    }
    assert.equal((await registered)?.metadata.name, 'node-1');
    assert.deepEqual(attempts, [100, 300, 700, 1_500, 3_100, 6_300, 12_700, 19_700, 26_700, 33_700]);
  });

  it('adopts a node that is there: labels put right in one patch of its status, the rest kept', async () => {
    await api.create('nodes', { metadata: { name: 'node-1', labels: { rack: '6' } } });
    const registered = registrar.register(new AbortController().signal);
    await clock.advance(100);
    const node = await registered;
    assert.equal(node?.metadata.labels?.['topology.kubernetes.io/zone'], 'a');
    assert.equal(node?.metadata.labels?.['rack'], '6');
    assert.equal(api.count('patch', 'nodes'), 1);
  });

  it('writes nothing over a node that is as it should be', async () => {
    const registered = registrar.register(new AbortController().signal);
    await clock.advance(100);
    await registered;
    const again = registrar.register(new AbortController().signal);
    await clock.advance(100);
    assert.equal((await again)?.metadata.uid, (await registered)?.metadata.uid);
    assert.equal(api.count('patch', 'nodes'), 0);
  });

  it('tries again when the node vanished between the answers', async () => {
    await api.create('nodes', { metadata: { name: 'node-1' } });
    api.fail('get', 'nodes', 'not-found');
    const registered = registrar.register(new AbortController().signal);
    await clock.advance(300);
    assert.ok((await registered) !== undefined);
  });

  it('gives up when the signal aborts', async () => {
    api.fail('create', 'nodes', 'unavailable', 1_000);
    const life = new AbortController();
    const registered = registrar.register(life.signal);
    await clock.advance(1_000);
    life.abort();
    assert.equal(await registered, undefined);
    assert.equal(clock.sleeping, 0);
  });
});
