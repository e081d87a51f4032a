import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { decidePressureAdmission } from '../../../../../src/hollow-cluster/kubelet/machine/decide-pressure-admission.ts';

const bestEffort: Pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'main' }] } };
const burstable: Pod = {
  metadata: { name: 'b' },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu: '100m' } } }] },
};

function admits(pod: Pod, conditions: Parameters<typeof decidePressureAdmission>[1], isCritical = false): boolean {
  return decidePressureAdmission(pod, conditions, isCritical).admitted;
}

describe('admission of pods under pressure', () => {
  it('under memory pressure only, admits pods with requests and critical pods [B20]', () => {
    assert.deepEqual(decidePressureAdmission(bestEffort, ['MemoryPressure'], false), {
      admitted: false,
      reason: 'Evicted',
      message: 'The node had condition: [MemoryPressure]. ',
    });
    assert.ok(admits(burstable, ['MemoryPressure']));
    assert.ok(admits(bestEffort, ['MemoryPressure'], true));
  });

  it('under memory pressure only, admits pods that tolerate it', () => {
    const toleration = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };
    const tolerant = { ...bestEffort, spec: { ...bestEffort.spec, tolerations: [toleration] } };
    assert.ok(admits(tolerant, ['MemoryPressure']));
    assert.ok(!admits(tolerant, ['DiskPressure']));
  });

  it('under any other pressure, admits critical pods only', () => {
    const admission = decidePressureAdmission(burstable, ['MemoryPressure', 'DiskPressure'], false);
    assert.equal(
      admission.admitted ? '' : admission.message,
      'The node had condition: [MemoryPressure DiskPressure]. ',
    );
    assert.ok(!admits(burstable, ['PIDPressure']));
    assert.ok(admits(burstable, ['PIDPressure'], true));
  });

  it('without pressure, admits every pod', () => assert.ok(admits(bestEffort, [])));

  it('uses the QoS class that the API server has set', () => {
    const said = { ...bestEffort, status: { qosClass: 'Guaranteed' } };
    assert.ok(admits(said, ['MemoryPressure']));
  });
});
