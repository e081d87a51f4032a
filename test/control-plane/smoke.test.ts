import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { assetsFolder } from '../../src/cli/simulation/programs/program-finder.ts';
import { controlPlaneBuild } from '../../tools/control-plane/programs.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { anyTaken, freePorts, portOf } from '../../src/cli/simulation/programs/free-ports.ts';
import type { KubeJson, WatchFrame } from './rest-client.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 15_000 };
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const podsPath = '/api/v1/namespaces/default/pods';

describe('a real control plane', () => {
  let plane: ControlPlane;

  before(async () => {
    plane = await startControlPlane({ users: [{ name: 'bystander' }], auditLevel: 'Metadata' });
  });
  after(() => plane.stop());

  const skip = assetsFolder() === undefined ? false : 'KUBEBUILDER_ASSETS may hold any version';
  test('reports the version that it was built from to a client and to kubectl', { skip }, async () => {
    const { gitVersion } = controlPlaneBuild();
    const version = await plane.client().must<{ readonly gitVersion: string }>('GET', '/version');
    assert.equal(version.gitVersion, gitVersion);
    const { code, stdout } = await plane.kubectl(['version', '--output=json']);
    assert.equal(code, 0);
    const versions: { clientVersion: { gitVersion: string }; serverVersion: { gitVersion: string } } =
      JSON.parse(stdout);
    assert.equal(versions.clientVersion.gitVersion, gitVersion);
    assert.equal(versions.serverVersion.gitVersion, gitVersion);
  });

  test('stores a node, a lease and a pod, and kubectl shows them', async () => {
    const client = plane.client();
    await client.must('POST', '/api/v1/nodes', { metadata: { name: 'kept' } });
    await client.must('POST', leasesPath, { metadata: { name: 'kept' }, spec: { holderIdentity: 'kept' } });
    await client.must('POST', podsPath, pod('kept', 'kept'));
    const nodes = await plane.kubectl(['get', 'node', 'kept', '--output=jsonpath={.spec.taints[*].key}']);
    assert.deepEqual(nodes, { code: 0, stdout: 'node.kubernetes.io/not-ready', stderr: '' });
    const pods = await plane.kubectl(['get', 'pods', '--field-selector=spec.nodeName=kept', '--output=name']);
    assert.deepEqual(pods, { code: 0, stdout: 'pod/kept\n', stderr: '' });
    const lease = await client.must<Lease>('GET', `${leasesPath}/kept`);
    assert.equal(lease.spec.holderIdentity, 'kept');
  });

  test('a client reads what kubectl applied', async () => {
    const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'applied' } });
    const applied = await plane.kubectl(['apply', '--filename=-'], manifest);
    assert.deepEqual(applied, { code: 0, stdout: 'node/applied created\n', stderr: '' });
    const { status } = await plane.client().send('GET', '/api/v1/nodes/applied');
    assert.equal(status, 200);
  });

  test('a watch delivers changes in order', async () => {
    const client = plane.client();
    const list = await client.must('GET', '/api/v1/nodes');
    const since = String(list.metadata?.['resourceVersion']);
    const reading = readFrames(plane, `/api/v1/nodes?watch=true&resourceVersion=${since}`, 3);
    await client.must('POST', '/api/v1/nodes', { metadata: { name: 'watched' } });
    const patch = { spec: { unschedulable: true } };
    await client.must('PATCH', '/api/v1/nodes/watched', patch, { contentType: 'application/merge-patch+json' });
    await client.must('DELETE', '/api/v1/nodes/watched');
    const frames = await reading;
    const seen = frames.map(({ type, object }) => `${type} ${object.metadata?.name}`);
    assert.deepEqual(seen, ['ADDED watched', 'MODIFIED watched', 'DELETED watched']);
  });

  test('authenticates a user without permissions and a service account, and rejects an invalid token', async () => {
    const asBystander = await plane.client(plane.tokenOf('bystander')).send('GET', '/api/v1/nodes');
    assert.equal(asBystander.status, 403);
    const token = await plane.addServiceAccount('accounts', 'reader');
    const asAccount = await plane.client(token).send('GET', '/api/v1/nodes');
    assert.match(asAccount.body.message ?? '', /system:serviceaccount:accounts:reader/);
    assert.equal((await plane.client('no such token').send('GET', '/api/v1/nodes')).status, 401);
    const denied = await plane.kubectl(['get', 'nodes'], '', plane.kubeconfigFor(token));
    assert.equal(denied.code, 1);
  });

  test('writes requests to the audit log', async () => {
    await plane.client().must('GET', '/api/v1/nodes?labelSelector=audited');
    const file = plane.auditLogFile;
    assert.ok(file !== undefined);
    const line = await waitUntil('the audit line', soon, () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .find((line) => line.includes('labelSelector=audited')),
    );
    const entry: { verb: string; user: { username: string } } = JSON.parse(line);
    assert.deepEqual([entry.verb, entry.user.username], ['list', 'admin']);
  });

  test('does not respond while frozen, refuses connections while killed, and has its data after a restart', async () => {
    const client = plane.client();
    await client.must('POST', '/api/v1/nodes', { metadata: { name: 'remembered' } });
    plane.stopApiServer();
    const signal = AbortSignal.timeout(500);
    await assert.rejects(client.send('GET', '/api/v1/nodes/remembered', undefined, { signal }));
    plane.continueApiServer();
    assert.equal((await client.send('GET', '/api/v1/nodes/remembered')).status, 200);
    await plane.killApiServer();
    assert.equal(plane.pids.apiServer, undefined);
    await assert.rejects(client.send('GET', '/api/v1/nodes/remembered'));
    await plane.restartApiServer();
    assert.equal((await client.send('GET', '/api/v1/nodes/remembered')).status, 200);
  });

  test('kube-controller-manager taints a silent node', async () => {
    const client = plane.client();
    await client.must('POST', '/api/v1/nodes', { metadata: { name: 'silent' } });
    const manager = await plane.startControllerManager([
      '--controllers=node-lifecycle-controller',
      '--node-monitor-period=1s',
      '--node-monitor-grace-period=4s',
      '--node-startup-grace-period=1s',
    ]);
    assert.deepEqual(plane.pids.controllerManagers, [manager.pid]);
    await waitUntil('the taint', { timeoutMs: 30_000 }, async () => {
      const node = await client.must<NodeTaints>('GET', '/api/v1/nodes/silent');
      return node.spec.taints?.find(({ key }) => key === 'node.kubernetes.io/unreachable');
    });
    await manager.stop();
    assert.deepEqual(plane.pids.controllerManagers, []);
  });
});

test('after a stop no process, port or folder is left', async () => {
  const plane = await startControlPlane();
  const { etcd, apiServer, guard } = plane.pids;
  const pids = [etcd, apiServer, guard].map(Number);
  assert.ok(pids.every(isAlive));
  plane.stopApiServer();
  await plane.stop();
  await plane.stop();
  assert.deepEqual(pids.filter(isAlive), []);
  assert.equal(existsSync(plane.folder), false);
  assert.equal(await anyTaken([Number(new URL(plane.url).port)]), false);
});

test('a test that is killed leaves no process and no folder', async () => {
  const program = `
    import { startControlPlane } from ${JSON.stringify(join(import.meta.dirname, 'control-plane.ts'))};
    const plane = await startControlPlane();
    console.log(JSON.stringify({ folder: plane.folder, pids: Object.values(plane.pids).flat() }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const info: { folder: string; pids: number[] } = JSON.parse(await firstLine(child));
  assert.equal(info.pids.length, 3);
  assert.ok(info.pids.every(isAlive));
  child.kill('SIGKILL');
  await waitUntil('all processes have ended', soon, () => (info.pids.some(isAlive) ? undefined : true));
  await waitUntil('the folder is removed', soon, () => (existsSync(info.folder) ? undefined : true));
});

test('a port that another process took in the meantime causes a retry with other ports', async () => {
  const otherServer = createServer();
  const taken = await new Promise<number>((resolve) => {
    otherServer.listen(0, '127.0.0.1', () => resolve(portOf(otherServer)));
  });
  const picked: (readonly number[])[] = [];
  const pick = async (count: number): Promise<readonly number[]> => {
    const free = await freePorts(count);
    picked.push(picked.length === 0 ? [taken, ...free.slice(1)] : free);
    return picked.at(-1) ?? [];
  };
  const plane = await startControlPlane({}, pick);
  assert.equal(picked.length, 2);
  await plane.stop();
  await new Promise((resolve) => otherServer.close(resolve));
});

test('a failed start reports the output of the program and leaves nothing', async () => {
  const before = performance.now();
  await assert.rejects(startControlPlane({ apiServerArgs: ['--no-such-flag'] }), /unknown flag: --no-such-flag/);
  assert.ok(performance.now() - before < 30_000, 'the exit was detected without waiting for the readiness timeout');
});

interface Lease extends KubeJson {
  readonly spec: { readonly holderIdentity: string };
}

interface NodeTaints extends KubeJson {
  readonly spec: { readonly taints?: readonly { readonly key: string }[] };
}

function pod(name: string, nodeName: string): unknown {
  return { metadata: { name }, spec: { nodeName, containers: [{ name: 'main', image: 'none' }] } };
}

async function readFrames(plane: ControlPlane, path: string, count: number): Promise<readonly WatchFrame[]> {
  const frames: WatchFrame[] = [];
  for await (const frame of plane.client().watch(path, AbortSignal.timeout(soon.timeoutMs))) {
    frames.push(frame);
    if (frames.length === count) break;
  }
  return frames;
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.once('exit', () => reject(new Error(`the child ended early with the output: ${text}`)));
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
