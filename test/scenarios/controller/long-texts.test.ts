// Texts as long as kube-apiserver stores them, in each field of an object that has no limit there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Condition, findCondition } from '../../../src/machinery/api/conditions.ts';
import { type Lease, transformLease } from '../../../src/machinery/api/lease.ts';
import {
  fencedAnnotation,
  flappingAnnotation,
  type Node,
  outOfServiceAnnotation,
  pauseAnnotation,
  transformNode,
} from '../../../src/machinery/api/node.ts';
import {
  policyApiVersion,
  resetAnnotation,
  transformPolicyObject,
} from '../../../src/machinery/api/node-lifecycle-policy.ts';
import { type Pod, transformPod } from '../../../src/machinery/api/pod.ts';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { linesPerSubject } from '../../../src/controller/decision-log/decision-log.ts';
import { aNode, aPod } from '../../support/builders.ts';
import { aCondition, ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { settled } from '../../support/manual-clock.ts';

const annotationChars = 255_000;
const statusChars = 400_000;
const changes = 1_000;
const at = '2026-01-02T03:00:00Z';

/** Another text each time, from its first character on. */
function longText(serial: number, chars: number): string {
  return `${serial}-`.padEnd(chars, 'x');
}

function bytesOf(values: unknown): number {
  return JSON.stringify(values).length;
}

test('a malformed pause annotation of 255,000 characters that changes 1,000 times: log, history, Events and explain are bounded', async () => {
  await using world = new ControllerWorld();
  world.addNode('n1', { zone: 'a' });
  world.renewing('n1');
  world.start();
  await settled();
  const linesBefore = world.logger.lines.length;
  for (let serial = 0; serial < changes; serial += 1) {
    world.annotatePause('n1', longText(serial, annotationChars));
    await settled();
  }
  const lines = world.logger.lines.slice(linesBefore).filter(({ fields }) => fields['node'] === 'n1');
  assert.ok(lines.length >= 2 && lines.length <= linesPerSubject, `${lines.length} lines`);
  assert.ok(bytesOf(lines) < 20_000, `${bytesOf(lines)} bytes of log`);
  const history = world.lifecycle.stages.decisions.of('n1');
  assert.ok(bytesOf(history) < 30_000, `${bytesOf(history)} bytes of history`);
  const events = world.nodeEvents.drafts.filter(({ reason }) => reason === 'MalformedPauseAnnotation');
  assert.ok(events.length > 0 && events.every(({ message }) => message.length < 1_024));
  const page = describeNodeOutlook(explainNode(world, 'n1'));
  assert.ok(page.length < 40_000, `${page.length} characters of explain`);
  // The safe meaning is kept: it is paused.
  assert.match(page, /paused by/);
  await world.clock.advance(60_000);
  world.annotatePause('n1', 'soon');
  await settled();
  const after = world.logger.lines.slice(linesBefore);
  assert.equal(after.findLast(({ fields }) => 'value' in fields)?.fields['value'], 'soon');
  const suppressed = after.reduce((sum, { fields }) => sum + Number(fields['suppressed'] ?? 0), 0);
  assert.equal(suppressed, changes + 1 - lines.length, 'the log says how much is missing');
});

test('a Ready condition with texts of 400,000 characters: neither ready nor silent, and bounded in log and explain', async () => {
  await using world = new ControllerWorld();
  world.addNode('n1', { zone: 'a' });
  world.renewing('n1');
  world.start();
  await settled();
  for (let serial = 0; serial < 100; serial += 1) {
    const status = serial % 2 === 0 ? 'False' : longText(serial, statusChars);
    const texts = { reason: longText(serial, statusChars), message: longText(serial, statusChars) };
    const node = world.node('n1');
    world.putNode({
      ...node,
      status: { ...node.status, conditions: [{ ...aCondition('Ready', status, at), ...texts }] },
    });
    await settled();
  }
  assert.ok(bytesOf(world.logger.lines) < 60_000, `${bytesOf(world.logger.lines)} bytes of log`);
  assert.ok(describeNodeOutlook(explainNode(world, 'n1')).length < 60_000);
  assert.notEqual(world.ready('n1'), 'Unknown');
});

type Grown = readonly [field: string, view: (text: string) => object];

const aGrownNode = (change: Partial<Node['status'] & object>, annotations: Record<string, string> = {}): object =>
  transformNode(aNode('n1', { metadata: { annotations }, status: { conditions: [], ...change } }));
const aGrownPod = (status: object): object =>
  transformPod(aPod('p1', { status: status as NonNullable<Pod['status']> }));
const ready: Condition = aCondition('Ready', 'True', at);

/** The strings of these kinds that are read and that kube-apiserver limits by the size of the object alone. */
const unlimited: readonly Grown[] = [
  ...[pauseAnnotation, fencedAnnotation, outOfServiceAnnotation, flappingAnnotation].map(
    (name): Grown => [`Node annotation ${name}`, (text) => aGrownNode({}, { [name]: text })],
  ),
  ['Node status.nodeInfo.bootID', (bootID) => aGrownNode({ nodeInfo: { bootID } })],
  ...(['status', 'reason', 'message'] as const).map(
    (name): Grown => [`Node condition ${name}`, (text) => aGrownNode({ conditions: [{ ...ready, [name]: text }] })],
  ),
  ...(['type', 'status', 'reason', 'message'] as const).map(
    (name): Grown => [`Pod condition ${name}`, (text) => aGrownPod({ conditions: [{ ...ready, [name]: text }] })],
  ),
  [
    'Pod DisruptionTarget reason',
    (reason) => aGrownPod({ conditions: [{ ...ready, type: 'DisruptionTarget', reason }] }),
  ],
  ['Pod status.phase', (phase) => aGrownPod({ phase })],
  ['Pod status.reason', (reason) => aGrownPod({ reason })],
  [
    'Lease spec.renewTime',
    (renewTime) =>
      transformLease({ metadata: { name: 'n1', uid: 'u', resourceVersion: '1' }, spec: { renewTime } } as Lease),
  ],
  [
    'NodeLifecyclePolicy annotation',
    (text) =>
      transformPolicyObject({
        apiVersion: policyApiVersion,
        kind: 'NodeLifecyclePolicy',
        metadata: { name: 'p', annotations: { [resetAnnotation]: text } },
      }),
  ],
];

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

for (const [field, view] of unlimited) {
  test(`${field} of 400,000 characters: at most 8 KB are kept of each object`, () => {
    assert.ok(bytesOf(view(longText(0, statusChars))) < 4_096);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    // Parsed as they arrive: a cut text must not keep the whole one in memory.
    const views = Array.from({ length: 50 }, (_, serial) => view(JSON.parse(`"${longText(serial, statusChars)}"`)));
    collectGarbage();
    const grownBytes = process.memoryUsage().heapUsed - before;
    // V8 keeps the last text that was matched.
    assert.ok(grownBytes < views.length * 8_192 + statusChars, `${grownBytes} bytes for ${views.length} objects`);
  });
}

test('values that are compared or written back are whole: a condition type, the boot ID, a taint', () => {
  const type = longText(1, statusChars);
  const bootID = longText(1, 1_024);
  const taint = { key: `example.com/${'k'.repeat(63)}`, value: 'v'.repeat(63), effect: 'NoExecute' };
  const node = transformNode(
    aNode('n1', { spec: { taints: [taint] }, status: { nodeInfo: { bootID }, conditions: [{ ...ready, type }] } }),
  );
  assert.equal(findCondition(node.conditions, type)?.status, 'True');
  assert.equal(node.bootID, bootID);
  assert.deepEqual(node.taints, [taint]);
});

test('a boot ID that is too long counts as none, and is reported: a part of it would be that of another boot', () => {
  const node = transformNode(aNode('n1', { status: { nodeInfo: { bootID: longText(1, 1_025) } } }));
  assert.equal(node.bootID, '');
  assert.match(
    node.problems?.join() ?? '',
    /status\.nodeInfo\.bootID: must be a string of at most 1024 characters \(got "1-xx/,
  );
});
