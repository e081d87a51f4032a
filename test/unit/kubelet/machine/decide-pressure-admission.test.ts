import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import { decidePressureAdmission } from '../../../../src/kubelet/machine/decide-pressure-admission.ts';

const bestEffort: Pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'main' }] } };
const burstable: Pod = {
  metadata: { name: 'b' },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu: '100m' } } }] },
};

function admits(pod: Pod, conditions: Parameters<typeof decidePressureAdmission>[1], isCritical = false): boolean {
  return decidePressureAdmission(pod, conditions, isCritical).admitted;
}

describe('who is taken in under pressure', () => {
  it('is, when only memory is short, who asked for something or is critical [B20]', () => {
    assert.deepEqual(decidePressureAdmission(bestEffort, ['MemoryPressure'], false), {
      admitted: false,
      reason: 'Evicted',
      message: 'The node had condition: [MemoryPressure]. ',
    });
    assert.ok(admits(burstable, ['MemoryPressure']));
    assert.ok(admits(bestEffort, ['MemoryPressure'], true));
  });

  it('is who tolerates it, then', () => {
    const toleration = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };
    const tolerant = { ...bestEffort, spec: { ...bestEffort.spec, tolerations: [toleration] } };
    assert.ok(admits(tolerant, ['MemoryPressure']));
    assert.ok(!admits(tolerant, ['DiskPressure']));
  });

  it('is only who is critical, when anything else is short', () => {
    const verdict = decidePressureAdmission(burstable, ['MemoryPressure', 'DiskPressure'], false);
    assert.equal(verdict.admitted ? '' : verdict.message, 'The node had condition: [MemoryPressure DiskPressure]. ');
    assert.ok(!admits(burstable, ['PIDPressure']));
    assert.ok(admits(burstable, ['PIDPressure'], true));
  });

  it('is everybody when nothing is short', () => {
    assert.ok(admits(bestEffort, []));
  });

  it('goes by what the API server said of a pod’s class', () => {
    const said = { ...bestEffort, status: { qosClass: 'Guaranteed' } };
    assert.ok(admits(said, ['MemoryPressure']));
  });
});
