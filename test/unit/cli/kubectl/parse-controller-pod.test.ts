import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseControllerPod } from '../../../../src/cli/kubectl/parse-controller-pod.ts';

const labels = { 'app.kubernetes.io/name': 'node-lifecycle-controller', 'pod-template-hash': '7f8' };

function object(spec: object, metadata: object = {}, status: object = { phase: 'Running' }) {
  return { metadata: { namespace: 'nlc', name: 'c-1', labels, ...metadata }, spec, status };
}

const container = (fields: object): object => ({ containers: [fields] });

test('port and TLS follow from the name of the container port', () => {
  const pages = (ports: readonly object[]) => parseControllerPod(object(container({ ports }))).pages;
  const health = { name: 'health', containerPort: 8081 };
  assert.deepEqual(pages([health, { name: 'metrics', containerPort: 8080 }]), { port: 8080, secure: false });
  assert.deepEqual(pages([health, { name: 'https-metrics', containerPort: 9443 }]), { port: 9443, secure: true });
  assert.equal(pages([health]), undefined);
  assert.equal(pages([{ name: 'metrics', containerPort: 'x' }]), undefined);
});

test('of a static pod they follow from its flags', () => {
  const pages = (...args: readonly string[]) => parseControllerPod(object(container({ args }))).pages;
  assert.deepEqual(pages('controller', '--metrics-bind-address=127.0.0.1:10280'), { port: 10_280, secure: false });
  assert.deepEqual(pages('--metrics-bind-address=:1', '--metrics-secure'), { port: 1, secure: true });
  assert.deepEqual(pages('--metrics-bind-address=:1', '--metrics-secure=false'), { port: 1, secure: false });
  assert.equal(pages('--metrics-bind-address=0'), undefined);
});

test('the full name of the release is that of the DaemonSet or of the ReplicaSet without its hash, or follows from the labels', () => {
  const name = (metadata: object) => parseControllerPod(object({}, metadata)).fullname;
  assert.equal(name({ ownerReferences: [{ kind: 'ReplicaSet', name: 'my-release-7f8' }] }), 'my-release');
  assert.equal(name({ ownerReferences: [{ kind: 'DaemonSet', name: 'my-own-name' }] }), 'my-own-name');
  const released = (release: string) => ({ labels: { ...labels, 'app.kubernetes.io/instance': release } });
  assert.equal(name(released('prod')), 'prod-node-lifecycle-controller');
  assert.equal(name(released('node-lifecycle-controller')), 'node-lifecycle-controller');
});

test('a pod that is being deleted does not count as running; on the host network the node name is a host name', () => {
  const terminating = parseControllerPod(object({}, { deletionTimestamp: '2026-11-24T00:00:00Z' }));
  assert.deepEqual([terminating.isRunning, terminating.phase], [false, 'Terminating']);
  assert.deepEqual(parseControllerPod(object({ hostNetwork: true, nodeName: 'n1' })).hostnames, ['c-1', 'n1']);
  assert.deepEqual(parseControllerPod(object({ nodeName: 'n1' })).hostnames, ['c-1']);
});

test('fields of the wrong type are read as empty', () => {
  const pod = parseControllerPod({ metadata: 7, spec: [], status: 'x' });
  assert.deepEqual([pod.name, pod.isRunning, pod.pages], ['', false, undefined]);
});
