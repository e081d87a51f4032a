import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deriveMachine } from '../../../../src/kubelet/derive-machine.ts';
import { MachineHealth } from '../../../../src/kubelet/node-status/machine-health.ts';
import { NodeComposer } from '../../../../src/kubelet/node-status/node-composer.ts';
import { type StatusSetter, statusSetters } from '../../../../src/kubelet/node-status/status-setters.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { KeepingLogger } from '../../../support/quiet.ts';

function aComposer(extra: readonly StatusSetter[] = []) {
  const clock = new ManualClock();
  const health = new MachineHealth();
  const logger = new KeepingLogger();
  const machine = deriveMachine(0);
  const composer = new NodeComposer({ setters: statusSetters(extra), machine, health, clock, logger });
  const compose = () => composer.compose({ metadata: { name: 'n' } });
  const types = () => (compose().status?.conditions ?? []).map(({ type }) => type);
  const ready = () => (compose().status?.conditions ?? []).at(-1);
  return { clock, health, logger, compose, types, ready };
}

describe('the chain of status setters', () => {
  it('appends the conditions in their order, those of others before Ready', () => {
    const gpu: StatusSetter = {
      name: 'GPU',
      set: (node) => ({
        ...node,
        status: { ...node.status, conditions: [...(node.status?.conditions ?? []), { type: 'GPU', status: 'True' }] },
      }),
    };
    const { health, types } = aComposer([gpu]);
    health.setCondition('Flooded', true);
    assert.deepEqual(types(), ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Flooded', 'GPU', 'Ready']);
  });

  it('goes on past a setter that throws, and says so', () => {
    const broken: StatusSetter = {
      name: 'Broken',
      set() {
        throw new Error('no such sensor');
      },
    };
    const { types, logger } = aComposer([broken]);
    assert.equal(types().at(-1), 'Ready');
    assert.equal(logger.lines[0]?.fields['setter'], 'Broken');
  });

  it('is not ready before the runtime was asked, nor when that is half a minute ago', async () => {
    const { clock, health, ready } = aComposer();
    assert.equal(ready()?.message, 'container runtime status check may not have completed yet');
    health.checkRuntime(clock.monotonicMs());
    await clock.advance(29_999);
    assert.equal(ready()?.status, 'True');
    await clock.advance(1);
    assert.equal(ready()?.message, 'container runtime is down');
  });

  it('tells a fault after the runtime', () => {
    const { health, ready } = aComposer();
    health.breakDown('on fire');
    assert.equal(ready()?.message, '[container runtime status check may not have completed yet, on fire]');
  });
});
