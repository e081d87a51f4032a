import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/api/node.ts';
import type { Container, NodeSelectorTerm, Pod, PodSpec } from '../../../../src/api/pod.ts';
import { decideNodeFit } from '../../../../src/kubelet/admission/decide-node-fit.ts';
import { decideNodeMatch } from '../../../../src/kubelet/admission/decide-node-match.ts';
import { derivePodRequests } from '../../../../src/kubelet/admission/derive-pod-requests.ts';
import { PodAdmitter } from '../../../../src/kubelet/admission/pod-admitter.ts';
import type { PodAdmission } from '../../../../src/kubelet/machine/decide-pressure-admission.ts';
import { configAnnotations } from '../../../../src/kubelet/pod-config/classify-pod.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryApi } from '../../../support/memory-api.ts';

const node: Node = {
  metadata: { name: 'n1', labels: { disk: 'ssd', size: '5' } },
  spec: { taints: [] },
  status: { allocatable: { cpu: '4', memory: '1Gi', pods: '3', 'ephemeral-storage': '1Gi', 'x.io/gpu': '2' } },
};

const asking = (requests: Readonly<Record<string, string>>): Container => ({ name: 'c', resources: { requests } });
const aPod = (spec: PodSpec = {}): Pod => ({ metadata: { name: 'p', namespace: 'd', uid: 'p' }, spec });

function told(pod: Pod, others: readonly Pod[] = [], on = node): string {
  const answer = decideNodeFit({ pod, others, node: on });
  return answer.admitted ? 'admitted' : `${answer.reason}: ${answer.message}`;
}

describe('whether a pod fits its node', () => {
  for (const { resource, requests, used, expected } of [
    { resource: 'cpu', requests: '2', used: '3', expected: 'requested: 2000, used: 3000, capacity: 4000' },
    {
      resource: 'memory',
      requests: '600Mi',
      used: '512Mi',
      expected: 'requested: 629145600, used: 536870912, capacity: 1073741824',
    },
    {
      resource: 'ephemeral-storage',
      requests: '1Gi',
      used: '1',
      expected: 'requested: 1073741824, used: 1, capacity: 1073741824',
    },
    { resource: 'x.io/gpu', requests: '1', used: '2', expected: 'requested: 1, used: 2, capacity: 2' },
  ]) {
    it(`says how much ${resource} is missing`, () => {
      const pod = aPod({ containers: [asking({ [resource]: requests })] });
      const other = aPod({ containers: [asking({ [resource]: used })] });
      const message = `Node didn't have enough resource: ${resource}, ${expected}`;
      assert.equal(told(pod, [other]), `OutOf${resource}: ${message}`);
      assert.equal(told(pod), 'admitted');
    });
  }

  it('counts the pods, and asks nothing more of one that wants nothing', () => {
    assert.equal(told(aPod(), [aPod(), aPod()]), 'admitted');
    const message = "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3";
    assert.equal(told(aPod(), [aPod(), aPod(), aPod()]), `OutOfpods: ${message}`);
    const greedy = aPod({ containers: [asking({ cpu: '9' })] });
    assert.equal(told(aPod(), [greedy]), 'admitted');
  });

  it('does not hold a resource against a pod that the node knows nothing of', () => {
    assert.equal(told(aPod({ containers: [asking({ 'y.io/fpga': '1' })] })), 'admitted');
  });

  it('wants what runs together summed up, and what runs before only once', () => {
    const sidecar = { ...asking({ cpu: '100m' }), restartPolicy: 'Always' };
    const pod = aPod({
      initContainers: [asking({ cpu: '1' }), sidecar, asking({ cpu: '2' })],
      containers: [asking({ cpu: '500m' }), asking({ cpu: '1' })],
      overhead: { cpu: '10m', memory: '1Mi' },
    });
    assert.deepEqual(Object.fromEntries(derivePodRequests(pod)), { cpu: 2_110, memory: 1_048_576 });
    const small = aPod({ initContainers: [sidecar], containers: [asking({ cpu: '500m' })] });
    assert.equal(derivePodRequests(small).get('cpu'), 600);
  });

  it('refuses a node that the pod does not want', () => {
    const message = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    assert.equal(told(aPod({ nodeSelector: { disk: 'hdd' } })), `NodeAffinity: ${message}`);
    assert.equal(told(aPod({ nodeSelector: { disk: 'ssd' } })), 'admitted');
  });

  it('refuses one that does not bear the node’s NoExecute taints, unless it is static', () => {
    const tainted = { ...node, spec: { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] } };
    const message = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate";
    assert.equal(told(aPod(), [], tainted), `TaintToleration: ${message}`);
    assert.equal(told(aPod({ tolerations: [{ operator: 'Exists' }] }), [], tainted), 'admitted');
    const metadata = { name: 's', annotations: { [configAnnotations.source]: 'file' } };
    assert.equal(told({ ...aPod(), metadata }, [], tainted), 'admitted');
    const cordoned = { ...node, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } };
    assert.equal(told(aPod(), [], cordoned), 'admitted');
  });

  for (const { operator, key, values, matches } of [
    { operator: 'In', key: 'disk', values: ['hdd', 'ssd'], matches: true },
    { operator: 'In', key: 'disk', values: ['hdd'], matches: false },
    { operator: 'In', key: 'gone', values: [''], matches: false },
    { operator: 'NotIn', key: 'disk', values: ['ssd'], matches: false },
    { operator: 'NotIn', key: 'gone', values: ['ssd'], matches: true },
    { operator: 'Exists', key: 'disk', values: [], matches: true },
    { operator: 'DoesNotExist', key: 'disk', values: [], matches: false },
    { operator: 'DoesNotExist', key: 'gone', values: [], matches: true },
    { operator: 'Gt', key: 'size', values: ['4'], matches: true },
    { operator: 'Gt', key: 'size', values: ['5'], matches: false },
    { operator: 'Lt', key: 'size', values: ['10'], matches: true },
    { operator: 'Lt', key: 'disk', values: ['10'], matches: false },
    { operator: 'Like', key: 'disk', values: ['ssd'], matches: false },
  ]) {
    it(`reads ${key} ${operator} [${values.join(' ')}] as ${matches}`, () => {
      assert.equal(matched([{ matchExpressions: [{ key, operator, values }] }]), matches);
    });
  }

  it('wants one of the terms, all of a term, and nobody where a term says nothing', () => {
    const right = { key: 'disk', operator: 'Exists' };
    const wrong = { key: 'gone', operator: 'Exists' };
    assert.equal(matched([{ matchExpressions: [wrong] }, { matchExpressions: [right] }]), true);
    assert.equal(matched([{ matchExpressions: [right, wrong] }]), false);
    assert.equal(matched([{}]), false);
    assert.equal(matched([]), false);
    const field = { key: 'metadata.name', operator: 'In', values: ['n1'] };
    assert.equal(matched([{ matchFields: [field] }]), true);
    assert.equal(matched([{ matchFields: [{ ...field, values: ['n2'] }] }]), false);
  });
});

describe('the admission of pods', () => {
  const { signal } = new AbortController();
  const no = (reason: string): PodAdmission => ({ admitted: false, reason, message: 'm' });
  const yes: PodAdmission = { admitted: true };

  function admitter(
    pressure: PodAdmission,
    shutdown: PodAdmission,
  ): { readonly api: MemoryApi; readonly it: PodAdmitter } {
    const api = new MemoryApi(new ManualClock());
    const it = new PodAdmitter({
      nodeName: 'n1',
      api,
      node: async () => node,
      pressure: { admit: () => pressure },
      shutdown: { admit: () => shutdown },
    });
    return { api, it };
  }

  it('asks for pressure first, then for room, then whether the machine goes down', async () => {
    const crowded = [aPod(), aPod(), aPod()];
    assert.deepEqual(
      await admitter(no('Evicted'), no('NodeShutdown')).it.admit(aPod(), crowded, signal),
      no('Evicted'),
    );
    const outOf = await admitter(yes, no('NodeShutdown')).it.admit(aPod(), crowded, signal);
    assert.equal(outOf.admitted ? '' : outOf.reason, 'OutOfpods');
    assert.deepEqual(await admitter(yes, no('NodeShutdown')).it.admit(aPod(), [], signal), no('NodeShutdown'));
    assert.deepEqual(await admitter(yes, yes).it.admit(aPod(), [], signal), yes);
  });

  it('takes a label that the API server knows of and the watch has not shown', async () => {
    const { api, it } = admitter(yes, yes);
    const pod = aPod({ nodeSelector: { fresh: 'yes' } });
    assert.equal((await it.admit(pod, [], signal)).admitted, false, 'there is no such node');
    await api.create('nodes', { ...node, metadata: { name: 'n1', labels: { fresh: 'yes' } } } as Node);
    assert.equal((await it.admit(pod, [], signal)).admitted, true);
  });
});

function matched(nodeSelectorTerms: readonly NodeSelectorTerm[]): boolean {
  const required = { nodeSelectorTerms };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  return decideNodeMatch(aPod({ affinity }), node);
}
