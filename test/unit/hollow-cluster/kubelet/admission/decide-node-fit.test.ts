import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../../src/machinery/api/node.ts';
import type { Container, NodeSelectorTerm, Pod, PodSpec } from '../../../../../src/machinery/api/pod.ts';
import {
  decideNodeFit,
  buildPodRequests,
} from '../../../../../src/hollow-cluster/kubelet/admission/decide-node-fit.ts';
import { decideNodeMatch } from '../../../../../src/hollow-cluster/kubelet/admission/decide-node-match.ts';
import { PodAdmitter } from '../../../../../src/hollow-cluster/kubelet/admission/pod-admitter.ts';
import type { PodAdmission } from '../../../../../src/hollow-cluster/kubelet/machine/decide-pressure-admission.ts';
import { configAnnotations } from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { MemoryApi } from '../../../../support/memory-api.ts';

const node: Node = {
  metadata: { name: 'n1', labels: { disk: 'ssd', size: '5' } },
  spec: { taints: [] },
  status: { allocatable: { cpu: '4', memory: '1Gi', pods: '3', 'ephemeral-storage': '1Gi', 'x.io/gpu': '2' } },
};

const asking = (requests: Readonly<Record<string, string>>): Container => ({ name: 'c', resources: { requests } });
const aPod = (spec: PodSpec = {}): Pod => ({ metadata: { name: 'p', namespace: 'd', uid: 'p' }, spec });

function admissionOf(pod: Pod, others: readonly Pod[] = [], on = node): string {
  const answer = decideNodeFit({ pod, others, node: on });
  return answer.admitted ? 'admitted' : `${answer.reason}: ${answer.message}`;
}

describe('the node-fit check of a pod', () => {
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
    it(`reports requested, used and capacity of ${resource}`, () => {
      const pod = aPod({ containers: [asking({ [resource]: requests })] });
      const other = aPod({ containers: [asking({ [resource]: used })] });
      const message = `Node didn't have enough resource: ${resource}, ${expected}`;
      assert.equal(admissionOf(pod, [other]), `OutOf${resource}: ${message}`);
      assert.equal(admissionOf(pod), 'admitted');
    });
  }

  it('limits the number of pods, and admits a pod without requests on a full node', () => {
    assert.equal(admissionOf(aPod(), [aPod(), aPod()]), 'admitted');
    const message = "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3";
    assert.equal(admissionOf(aPod(), [aPod(), aPod(), aPod()]), `OutOfpods: ${message}`);
    const greedy = aPod({ containers: [asking({ cpu: '9' })] });
    assert.equal(admissionOf(aPod(), [greedy]), 'admitted');
  });

  it('ignores an extended resource that the node does not report', () => {
    assert.equal(admissionOf(aPod({ containers: [asking({ 'y.io/fpga': '1' })] })), 'admitted');
  });

  it('sums up containers that run together, and counts init containers by their maximum', () => {
    const sidecar = { ...asking({ cpu: '100m' }), restartPolicy: 'Always' };
    const pod = aPod({
      initContainers: [asking({ cpu: '1' }), sidecar, asking({ cpu: '2' })],
      containers: [asking({ cpu: '500m' }), asking({ cpu: '1' })],
      overhead: { cpu: '10m', memory: '1Mi' },
    });
    assert.deepEqual(Object.fromEntries(buildPodRequests(pod)), { cpu: 2_110, memory: 1_048_576 });
    const small = aPod({ initContainers: [sidecar], containers: [asking({ cpu: '500m' })] });
    assert.equal(buildPodRequests(small).get('cpu'), 600);
  });

  it('rejects a pod whose node selector does not match', () => {
    const message = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    assert.equal(admissionOf(aPod({ nodeSelector: { disk: 'hdd' } })), `NodeAffinity: ${message}`);
    assert.equal(admissionOf(aPod({ nodeSelector: { disk: 'ssd' } })), 'admitted');
  });

  it('rejects a pod that does not tolerate a NoExecute taint, unless it is static', () => {
    const tainted = { ...node, spec: { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] } };
    const message = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate";
    assert.equal(admissionOf(aPod(), [], tainted), `TaintToleration: ${message}`);
    assert.equal(admissionOf(aPod({ tolerations: [{ operator: 'Exists' }] }), [], tainted), 'admitted');
    const metadata = { name: 's', annotations: { [configAnnotations.source]: 'file' } };
    assert.equal(admissionOf({ ...aPod(), metadata }, [], tainted), 'admitted');
    const cordoned = { ...node, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } };
    assert.equal(admissionOf(aPod(), [], cordoned), 'admitted');
  });

  it('rejects a pod for another operating system, by its field or its label', () => {
    const field = "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS";
    assert.equal(admissionOf(aPod({ os: { name: 'windows' } })), field);
    assert.equal(admissionOf(aPod({ os: { name: 'linux' } })), 'admitted');
    const windows = { ...node, status: { ...node.status, nodeInfo: { operatingSystem: 'windows' } } } as Node;
    assert.equal(admissionOf(aPod({ os: { name: 'windows' } }), [], windows), 'admitted');
    assert.equal(admissionOf(aPod({ os: { name: 'linux' } }), [], windows), field);
    const labelled = (os: string): Pod => ({ ...aPod(), metadata: { name: 'p', labels: { 'kubernetes.io/os': os } } });
    const label =
      "PodOSSelectorNodeLabelDoesNotMatch: Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    assert.equal(admissionOf(labelled('windows')), label);
    assert.equal(admissionOf(labelled('linux')), 'admitted');
  });

  const ports = "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
  for (const { title, wanted, taken, conflict } of [
    { title: 'the same port', wanted: { hostPort: 80 }, taken: { hostPort: 80 }, conflict: true },
    { title: 'another port', wanted: { hostPort: 80 }, taken: { hostPort: 81 }, conflict: false },
    {
      title: 'another protocol',
      wanted: { hostPort: 80, protocol: 'UDP' },
      taken: { hostPort: 80, protocol: 'TCP' },
      conflict: false,
    },
    {
      title: 'the default protocol, TCP',
      wanted: { hostPort: 80, protocol: 'TCP' },
      taken: { hostPort: 80 },
      conflict: true,
    },
    {
      title: 'another address',
      wanted: { hostPort: 80, hostIP: '127.0.0.1' },
      taken: { hostPort: 80, hostIP: '127.0.0.2' },
      conflict: false,
    },
    {
      title: 'one address of a port that is taken on all',
      wanted: { hostPort: 80, hostIP: '127.0.0.1' },
      taken: { hostPort: 80 },
      conflict: true,
    },
    {
      title: 'all addresses of a port that is taken on one',
      wanted: { hostPort: 80, hostIP: '0.0.0.0' },
      taken: { hostPort: 80, hostIP: '127.0.0.1' },
      conflict: true,
    },
    { title: 'no host port', wanted: { hostPort: 0 }, taken: { hostPort: 0 }, conflict: false },
  ]) {
    it(`${conflict ? 'rejects' : 'admits'} a pod that wants ${title}`, () => {
      const pod = aPod({ containers: [{ name: 'c', ports: [wanted] }] });
      const other = aPod({ containers: [{ name: 'a' }, { name: 'b', ports: [{}, taken] }] });
      assert.equal(admissionOf(pod, [other]), conflict ? ports : 'admitted');
    });
  }

  it('counts the host ports of sidecars, and not those of other init containers', () => {
    const init = { name: 'i', ports: [{ hostPort: 80 }] };
    const pod = aPod({ containers: [{ name: 'c', ports: [{ hostPort: 80 }] }] });
    assert.equal(admissionOf(pod, [aPod({ initContainers: [init] })]), 'admitted');
    const sidecar = { ...init, restartPolicy: 'Always' };
    assert.equal(admissionOf(pod, [aPod({ initContainers: [sidecar] })]), ports);
    assert.equal(admissionOf(aPod({ initContainers: [sidecar] }), [pod]), ports);
  });

  it('reports the first check that fails: system, resources, affinity, host ports, taints', () => {
    const port = { name: 'c', ports: [{ hostPort: 80 }] };
    const os = { os: { name: 'windows' } };
    const greedy = { containers: [{ ...asking({ cpu: '9' }), ...port }] };
    const lost = { nodeSelector: { disk: 'hdd' } };
    const others = [aPod({ containers: [port] })];
    const tainted = { ...node, spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } };
    const reason = (spec: PodSpec): string => admissionOf(aPod(spec), others, tainted).split(':')[0] ?? '';
    assert.equal(reason({ ...os, ...greedy, ...lost }), 'PodOSNotSupported');
    assert.equal(reason({ ...greedy, ...lost }), 'OutOfcpu');
    assert.equal(reason({ containers: [port], ...lost }), 'NodeAffinity');
    assert.equal(reason({ containers: [port] }), 'NodePorts');
    assert.equal(reason({}), 'TaintToleration');
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
    it(`evaluates ${key} ${operator} [${values.join(' ')}] as ${matches}`, () => {
      assert.equal(matched([{ matchExpressions: [{ key, operator, values }] }]), matches);
    });
  }

  it('requires one of the terms and all requirements of a term; an empty term matches no node', () => {
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
      node: () => node,
      pressure: { admit: () => pressure },
      shutdown: { admit: () => shutdown },
    });
    return { api, it };
  }

  it('checks pressure first, then node fit, then shutdown', async () => {
    const crowded = [aPod(), aPod(), aPod()];
    const actual = await admitter(no('Evicted'), no('NodeShutdown')).it.admit(aPod(), crowded, signal);
    assert.deepEqual(actual, no('Evicted'));
    const outOf = await admitter(yes, no('NodeShutdown')).it.admit(aPod(), crowded, signal);
    assert.equal(outOf.admitted ? '' : outOf.reason, 'OutOfpods');
    assert.deepEqual(await admitter(yes, no('NodeShutdown')).it.admit(aPod(), [], signal), no('NodeShutdown'));
    assert.deepEqual(await admitter(yes, yes).it.admit(aPod(), [], signal), yes);
  });

  it('reads the node from the API server before it rejects a pod for its node affinity', async () => {
    const { api, it } = admitter(yes, yes);
    const pod = aPod({ nodeSelector: { fresh: 'yes' } });
    assert.equal((await it.admit(pod, [], signal)).admitted, false, 'the node does not exist');
    await api.create('nodes', { ...node, metadata: { name: 'n1', labels: { fresh: 'yes' } } } as Node);
    assert.equal((await it.admit(pod, [], signal)).admitted, true);
  });
});

function matched(nodeSelectorTerms: readonly NodeSelectorTerm[]): boolean {
  const required = { nodeSelectorTerms };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  return decideNodeMatch(aPod({ affinity }), node);
}
