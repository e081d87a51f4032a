// etcd and kube-apiserver as `nlc demo --control-plane` runs them.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePorts, portOf } from '../../src/cli/simulation/programs/free-ports.ts';
import { ControlPlanePrograms } from '../../src/cli/simulation/programs/control-plane-programs.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { loadConnection } from '../../src/machinery/kubeconfig/connection.ts';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { silentLogger } from '../support/fakes.ts';
import { makeKubeApi } from '../support/make-kube-api.ts';
import { tempFolder } from '../support/temp-folder.ts';

const found = findControlPlane();
if ('missing' in found) throw new Error(found.missing);
const clock = new SystemClock();
const common = { binaries: found.dir, clock, defaultTolerationSeconds: 2, signal: new AbortController().signal };

test('a stall holds requests and ends; pods get the given tolerations; the folder is removed', async () => {
  const folder = join(tempFolder(), 'plane');
  const plane = await ControlPlanePrograms.start({ ...common, folder, port: 0 });
  const kubeconfig = join(tempFolder(), 'kubeconfig');
  writeFileSync(kubeconfig, plane.kubeconfig(), { mode: 0o600 });
  const api = makeKubeApi(await loadConnection({ kubeconfig }), { logger: silentLogger });
  try {
    const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'a' }] };
    const pod = await api.create('pods', { metadata: { namespace: 'default', name: 'a' }, spec } as KubeObject, common);
    const { tolerations } = (pod as unknown as { spec: { tolerations: { tolerationSeconds: number }[] } }).spec;
    assert.deepEqual(
      tolerations.map(({ tolerationSeconds }) => tolerationSeconds),
      [2, 2],
    );
    const atMs = clock.monotonicMs();
    plane.stall(1_500);
    await api.get('pods', { namespace: 'default', name: 'a' }, common);
    assert.ok(clock.monotonicMs() - atMs >= 1_400, `${clock.monotonicMs() - atMs} ms`);
  } finally {
    await api.close();
    await plane.close();
  }
  assert.equal(existsSync(folder), false);
});

test('a port in use: the error has the end of the log, and nothing is left', async () => {
  const server = createServer();
  const [port = 0] = await freePorts(1);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const folder = join(tempFolder(), 'plane');
  try {
    const start = ControlPlanePrograms.start({ ...common, folder, port: portOf(server) });
    await assert.rejects(start, /kube-apiserver ended with 1; the end of its log:[^]*address already in use/);
    assert.equal(existsSync(folder), false);
  } finally {
    server.close();
  }
});
