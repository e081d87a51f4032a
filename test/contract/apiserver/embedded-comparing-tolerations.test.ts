/** The gate TaintTolerationComparisonOperators on; a real kube-apiserver answers the rows in test/control-plane/comparing-tolerations.test.ts. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { DataDir } from '../../../src/hollow-cluster/apiserver/data-dir/data-dir.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { embeddedBackend } from './backend.ts';
import { causesOf, Client, expect, mergePatch, openClient, podPath } from './client.ts';
import { checkComparingAdded, checkComparingRow, comparingRows } from './comparing-tolerations.ts';

const featureGates = new Set(['TaintTolerationComparisonOperators'] as const);
const client = await openClient({ featureGates });

for (const row of comparingRows) {
  const verb = row.causes.length === 0 ? 'admitted' : 'rejected';
  test(`${row.operator} ${JSON.stringify(row.value)} is ${verb} with the gate`, () => checkComparingRow(client, row));
}

test('a toleration that compares can be added to a pod with the gate', () => checkComparingAdded(client));

test('what a pod or a template has already stays valid when the gate is off again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-gates-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const toleration = { key: 'sla', operator: 'Gt', value: '7' };
  const open = async (
    gates: Parameters<typeof embeddedBackend>[0],
  ): Promise<{ client: Client; close(): Promise<void> }> => {
    const dataDir = await DataDir.open(folder, new RecordingLogger());
    const opened = new Client(await embeddedBackend({ ...gates, dataDir, clock: new SystemClock() }));
    return {
      client: opened,
      close: async () => {
        await opened.close();
        dataDir.close();
      },
    };
  };
  const on = await open({ featureGates });
  const pod = await on.client.pod('default', { spec: { tolerations: [toleration] } });
  await on.close();
  const off = await open({});
  const labels = { a: 'b' };
  expect(await off.client.patch(podPath(pod), mergePatch, { metadata: { labels } }), 200, { metadata: { labels } });
  const tolerations = [...pod.spec.tolerations, { ...toleration, value: '8' }];
  expect(await off.client.patch(podPath(pod), mergePatch, { spec: { tolerations } }), 200);
  const other = await off.client.pod('default');
  const added = { spec: { tolerations: [...other.spec.tolerations, toleration] } };
  assert.deepEqual(causesOf(await off.client.patch(podPath(other), mergePatch, added)), ['FieldValueNotSupported']);
  await off.close();
});
