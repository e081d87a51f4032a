// ResourceQuotas of the embedded API server, whose status its own controller and that of kube-controller-manager write.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { SystemClock } from '../../src/adapters/system-clock.ts';
import type { ServerControllerName } from '../../src/apiserver/controllers/controller-names.ts';
import { WorkloadPrograms } from '../../src/cli/programs/workload-programs.ts';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { embeddedBackend } from '../contract/apiserver/backend.ts';
import { aPod, Client, expect, type Json, mergePatch, podPath } from '../contract/apiserver/client.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { waitUntil } from './wait-until.ts';

const timeoutMs = 30_000;
const steadyMs = 1_000;

for (const controllers of [[], ['resourcequota-controller']] as const) {
  const name = controllers.length === 0 ? 'kube-controller-manager alone' : 'both controllers';
  test(`the status of a quota is right with ${name}`, { timeout: 120_000 }, async () => {
    await withControllerManager(controllers, async (client) => {
      const namespace = await client.namespace();
      const pods = `/api/v1/namespaces/${namespace}/pods`;
      const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
      const status = async (): Promise<Json> => expect(await client.get(`${quotas}/q`), 200).status;
      /** It becomes so, and stays so. */
      const untilUsed = async (used: string): Promise<void> => {
        await waitUntil(`${used} pods`, { timeoutMs }, async () => (await status()).used?.pods === used);
        await sleep(steadyMs);
        assert.equal((await status()).used.pods, used);
      };
      await client.pod(namespace);
      await client.make(quotas, { metadata: { name: 'q' }, spec: { hard: { pods: '3', 'count/configmaps': '9' } } });
      await untilUsed('1');
      const made = await Promise.all(Array.from({ length: 6 }, (_, index) => client.post(pods, aPod(`p${index}`))));
      assert.equal(made.filter(({ code }) => code === 201).length, 2);
      await untilUsed('3');
      const [first, second] = made.flatMap(({ code, body }) => (code === 201 ? [body] : []));
      expect(await client.patch(`${podPath(first)}/status`, mergePatch, { status: { phase: 'Failed' } }), 200);
      expect(await client.delete(podPath(second)), 200);
      await untilUsed('1');
      expect(await client.patch(`${quotas}/q`, mergePatch, { spec: { hard: { pods: '1' } } }), 200);
      await waitUntil('the new limit', { timeoutMs }, async () => (await status()).hard.pods === '1');
      expect(await client.post(pods, aPod('more')), 403);
    });
  });
}

async function withControllerManager(
  controllers: readonly ServerControllerName[],
  use: (client: Client) => Promise<void>,
): Promise<void> {
  const found = findControlPlane();
  if ('missing' in found) throw new Error(found.missing);
  const folder = tempFolder();
  const kubeconfigFile = join(folder, 'kubeconfig');
  const backend = await embeddedBackend({ controllers });
  writeFileSync(kubeconfigFile, backend.server.kubeconfig());
  const client = new Client(backend);
  const files = new Map([['kube-controller-manager', found.kubeControllerManager]] as const);
  const about = { files, kubeconfigFile, folder: join(folder, 'programs'), clock: new SystemClock() };
  const programs = await WorkloadPrograms.start(about);
  try {
    await use(client);
  } finally {
    await programs.stop();
    await client.close();
  }
}
