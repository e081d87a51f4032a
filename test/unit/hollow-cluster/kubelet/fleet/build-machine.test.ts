import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildMachine } from '../../../../../src/hollow-cluster/kubelet/fleet/build-machine.ts';

describe('the machines of a fleet', () => {
  it('have unique addresses that never collide with pod addresses', () => {
    const machines = Array.from({ length: 10_000 }, (_, index) => buildMachine(index));
    assert.equal(new Set(machines.map(({ address }) => address)).size, machines.length);
    assert.equal(new Set(machines.map(({ podSubnet }) => podSubnet)).size, machines.length);
    for (const { address, podSubnet } of machines) {
      assert.ok(Number(address.split('.')[1]) < 128);
      assert.ok(Number(podSubnet.split('.')[1]) >= 128);
    }
  });
});
