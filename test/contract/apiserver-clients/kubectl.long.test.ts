// The real kubectl against the embedded server: its commands must work as on kube-apiserver.
// Every assertion holds for a real server as well: CONFORMANCE_BACKEND=real, as for the conformance suite, runs it there.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findKubectl } from '../../../tools/control-plane/binaries.ts';
import { type Backend, startBackend } from '../apiserver/backend.ts';
import { Kubectl, type KubectlOutcome } from './kubectl-run.ts';

const binary = findKubectl();
const skip =
  binary === undefined
    ? 'no kubectl in KUBEBUILDER_ASSETS, in the build of `npm run control-plane` or on the PATH'
    : false;

const readyStatus = {
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      message: 'kubelet is posting ready status',
      lastHeartbeatTime: '2026-01-02T03:04:05Z',
      lastTransitionTime: '2026-01-02T03:04:05Z',
    },
  ],
  capacity: { cpu: '4', memory: '8Gi', pods: '110' },
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  nodeInfo: { kubeletVersion: 'v1.37.2', osImage: 'Hollow', kernelVersion: '6.12', architecture: 'amd64' },
};

function aNode(name: string): object {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { zone: 'a' } }, status: readyStatus };
}

function aPod(name: string, nodeName: string, spec: object = {}): object {
  const containers = [{ name: 'main', image: 'example.com/app:1' }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: name } },
    spec: { ...(nodeName === '' ? {} : { nodeName }), containers, terminationGracePeriodSeconds: 0, ...spec },
  };
}

describe('kubectl', { skip }, () => {
  let backend: Backend;
  let kubectl: Kubectl;

  before(async () => {
    backend = await startBackend();
    kubectl = new Kubectl(binary ?? '', backend);
  });
  after(async () => {
    kubectl.forget();
    await backend.close();
  });

  /** Runs a command that must succeed, and returns its output. */
  async function must(command: string, stdin: object | string = ''): Promise<string> {
    const text = typeof stdin === 'string' ? stdin : JSON.stringify(stdin);
    const outcome = await kubectl.run(command.split(' '), text);
    assert.equal(outcome.code, 0, `kubectl ${command}: ${outcome.stdout}${outcome.stderr}`);
    return outcome.stdout;
  }

  async function mustFail(command: string, stdin: object | string = ''): Promise<KubectlOutcome> {
    const text = typeof stdin === 'string' ? stdin : JSON.stringify(stdin);
    const outcome = await kubectl.run(command.split(' '), text);
    assert.notEqual(outcome.code, 0, `kubectl ${command}: ${outcome.stdout}`);
    return outcome;
  }

  test('version', async () => {
    const versions: { serverVersion: { major: string; minor: string } } = JSON.parse(await must('version -o json'));
    assert.deepEqual([versions.serverVersion.major, versions.serverVersion.minor], ['1', '36']);
  });

  test('get nodes, in each output format', async () => {
    assert.equal(await must('create -f -', aNode('get-a')), 'node/get-a created\n');
    const plain = await must('get nodes get-a');
    assert.match(plain, /^NAME +STATUS +ROLES +AGE +VERSION\nget-a +Ready +<none> +\d+s +v1\.37\.2\n$/);
    assert.match(await must('get no get-a -o wide'), /INTERNAL-IP[\s\S]*10\.0\.0\.1 +<none> +Hollow +6\.12 \(amd64\)/);
    assert.match(await must('get nodes get-a --show-labels'), /zone=a/);
    assert.match(await must('get nodes -l zone=a --sort-by=.metadata.name'), /get-a/);
    assert.equal(await must('get nodes get-a -o name'), 'node/get-a\n');
    const node: { status: { capacity: object } } = JSON.parse(await must('get node get-a -o json'));
    assert.deepEqual(node.status.capacity, readyStatus.capacity);
    assert.match(await must('get node get-a -o yaml'), /^apiVersion: v1\nkind: Node\n/);
  });

  test('get nodes -w prints a line per change, and the columns once', async () => {
    await must('create -f -', aNode('watch-a'));
    const watch = kubectl.start(['get', 'nodes', 'watch-a', '-w']);
    await watch.until(/watch-a +Ready /);
    await must('cordon watch-a');
    const output = await watch.until(/watch-a +Ready,SchedulingDisabled/);
    await watch.stop();
    assert.equal(output.match(/NAME/g)?.length, 1);
  });

  test('get pods -A -o wide', async () => {
    await must('create -f -', aNode('pods-a'));
    await must('create -f -', aPod('wide', 'pods-a'));
    const output = await must('get pods -A -o wide --field-selector=spec.nodeName=pods-a');
    assert.match(output, /^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES\n/);
    assert.match(output, /default +wide +0\/1 +Pending +0 +\d+s +<none> +pods-a +<none> +<none>/);
  });

  test('describe node', async () => {
    await must('create -f -', aNode('described'));
    await must('create -f -', aPod('on-described', 'described'));
    await must('create -f -', {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'described', namespace: 'kube-node-lease' },
      spec: { holderIdentity: 'described', leaseDurationSeconds: 40, renewTime: '2026-01-02T03:04:05.000000Z' },
    });
    await must('create -f -', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'described.1', namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'described', uid: 'described' },
      type: 'Normal',
      reason: 'NodeNotReady',
      message: 'Node described status is now: NodeNotReady',
      source: { component: 'node-controller' },
      firstTimestamp: '2026-01-02T03:04:05Z',
      lastTimestamp: '2026-01-02T03:04:05Z',
      count: 1,
    });
    const output = await must('describe node described');
    for (const part of [
      /HolderIdentity: +described/,
      /RenewTime: +Fri, 02 Jan 2026/,
      /Ready +True .* KubeletReady +kubelet is posting ready status/,
      /cpu: +4\n/,
      /default +on-described /,
      /Normal +NodeNotReady .* node-controller +Node described status is now: NodeNotReady/,
    ]) {
      assert.match(output, part);
    }
    assert.match(await must('get events -A'), /default +\d+d +Normal +NodeNotReady +node\/described +Node described/);
    assert.match(await must('events --for node/described'), /NodeNotReady/);
    assert.match(await must('get leases -n kube-node-lease'), /described +described +\d+s/);
  });

  test('taint and untaint', async () => {
    await must('create -f -', aNode('tainted'));
    const taints = 'get node tainted -o jsonpath={.spec.taints}';
    assert.equal(await must('taint node tainted key=value:NoExecute'), 'node/tainted tainted\n');
    const given: readonly { key: string; value?: string; effect: string }[] = JSON.parse(await must(taints));
    const added = given.find((taint) => taint.key === 'key');
    assert.deepEqual([added?.value, added?.effect], ['value', 'NoExecute']);
    assert.equal(await must('taint node tainted key:NoExecute-'), 'node/tainted untainted\n');
    assert.doesNotMatch(await must(taints), /"key":"key"/);
  });

  test('cordon and uncordon', async () => {
    await must('create -f -', aNode('cordoned'));
    assert.equal(await must('cordon cordoned'), 'node/cordoned cordoned\n');
    assert.match(await must('get node cordoned'), /Ready,SchedulingDisabled/);
    assert.equal(await must('uncordon cordoned'), 'node/cordoned uncordoned\n');
    assert.match(await must('get node cordoned'), /Ready +<none>/);
  });

  test('delete pod: at once without a grace period, Terminating with one, and with --force', async () => {
    await must('create -f -', aNode('deleting'));
    await must('create -f -', aPod('quick', 'deleting'));
    assert.match(await must('delete pod quick'), /pod "quick" deleted/);
    await must('create -f -', aPod('slow', 'deleting', { terminationGracePeriodSeconds: 60 }));
    await must('delete pod slow --wait=false');
    assert.match(await must('get pod slow'), /slow +0\/1 +Terminating/);
    await must('delete pod slow --force --grace-period=0');
    assert.match((await mustFail('get pod slow')).stderr, /\(NotFound\): pods "slow" not found/);
  });

  test('create and delete a namespace', async () => {
    assert.equal(await must('create namespace team-a'), 'namespace/team-a created\n');
    assert.match(await must('get ns team-a'), /team-a +Active/);
    assert.match((await mustFail('create namespace team-a')).stderr, /namespaces "team-a" already exists/);
  });

  test('apply: created, unchanged, configured, and removed fields are removed', async () => {
    const main = { name: 'main', image: 'example.com/app:1' };
    const side = { name: 'side', image: 'example.com/side:1' };
    const template = (containers: readonly object[]): object => ({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'applied', namespace: 'default' },
      spec: {
        selector: { matchLabels: { app: 'applied' } },
        template: { metadata: { labels: { app: 'applied' } }, spec: { containers } },
      },
    });
    assert.equal(await must('apply -f -', template([main, side])), 'daemonset.apps/applied created\n');
    assert.equal(await must('apply -f -', template([main, side])), 'daemonset.apps/applied unchanged\n');
    const changed = { ...main, image: 'example.com/app:2' };
    assert.equal(await must('apply -f -', template([changed])), 'daemonset.apps/applied configured\n');
    const output = await must('get ds applied -o wide');
    assert.match(output, /applied +0 +0 +0 +0 +0 +<none> +\d+s +main +example\.com\/app:2 +app=applied/);
    assert.match(await must('delete ds applied'), /"applied" deleted/);
  });

  test('apply rejects an unknown field', async () => {
    const { stderr } = await mustFail('apply -f -', { ...aPod('misspelt', ''), spec: { continers: [] } });
    assert.match(stderr, /unknown field "spec\.continers"/);
  });

  test('label, annotate and patch', async () => {
    await must('create -f -', aNode('edited'));
    await must('label node edited colour=blue');
    await must('annotate node edited note=mine');
    await must('patch node edited --type=json -p [{"op":"remove","path":"/metadata/labels/zone"}]');
    await must('patch node edited --type=merge -p {"spec":{"podCIDR":"10.0.0.0/24"}}');
    const output = await must('get node edited -o json');
    const node: { metadata: { labels: object; annotations: object }; spec: { podCIDR: string } } = JSON.parse(output);
    assert.deepEqual(node.metadata.labels, { colour: 'blue' });
    assert.deepEqual(node.metadata.annotations, { note: 'mine' });
    assert.equal(node.spec.podCIDR, '10.0.0.0/24');
  });

  test('replace, diff and dry run', async () => {
    const manifest = aNode('replaced');
    assert.equal(await must('apply -f - --dry-run=server', manifest), 'node/replaced created (server dry run)\n');
    await mustFail('get node replaced');
    await must('create -f -', manifest);
    const relabelled = { ...manifest, metadata: { name: 'replaced', labels: { zone: 'b' } } };
    assert.match((await mustFail('diff -f -', relabelled)).stdout, /- +zone: a\n\+ +zone: b\n/);
    assert.equal(await must('replace -f -', relabelled), 'node/replaced replaced\n');
    assert.equal(await must('diff -f -', relabelled), '');
  });

  test('drain evicts the pods of the node and waits until they are deleted', async () => {
    await must('create -f -', aNode('drained'));
    await must('create -f -', aPod('evictee', 'drained'));
    const output = await must('drain drained --force --timeout=20s');
    assert.match(output, /node\/drained cordoned\n[\s\S]*evicting pod default\/evictee[\s\S]*node\/drained drained\n/);
    await mustFail('get pod evictee');
  });

  test('drain with deletion instead of eviction, which sends DeleteOptions in protobuf', async () => {
    await must('create -f -', aNode('emptied'));
    await must('create -f -', aPod('deletee', 'emptied'));
    assert.match(await must('drain emptied --force --disable-eviction --timeout=20s'), /node\/emptied drained/);
    await mustFail('get pod deletee');
  });

  test('wait for a condition, and for a deletion', async () => {
    await must('create -f -', aNode('awaited'));
    assert.equal(await must('wait node/awaited --for=condition=Ready --timeout=20s'), 'node/awaited condition met\n');
    const gone = must('wait node/awaited --for=delete --timeout=20s');
    await must('delete node awaited');
    await gone;
  });

  test('auth can-i, auth whoami', async () => {
    assert.match(await must('auth can-i list pods'), /^yes\n$/);
    assert.match(await must('auth can-i --list'), /\*\.\* +\[\] +\[\] +\[\*\]/);
    assert.match(await must('auth whoami'), /system:masters/);
  });

  test('api-resources and api-versions', async () => {
    const output = await must('api-resources');
    assert.match(output, /nodes +no +v1 +false +Node\n/);
    assert.match(output, /leases +coordination\.k8s\.io\/v1 +true +Lease\n/);
    assert.match(await must('api-versions'), /^apps\/v1$/m);
  });

  test('explain', async () => {
    const output = await must('explain node.spec.taints');
    assert.match(output, /KIND: +Node\nVERSION: +v1\n/);
    assert.match(output, /timeAdded\t<string>\n/);
    assert.match(await must('explain lease --recursive'), /GROUP: +coordination\.k8s\.io[\s\S]*renewTime\t<string>/);
  });

  test('get --raw of the health endpoints', async () => {
    assert.equal(await must('get --raw /readyz'), 'ok');
  });
});
