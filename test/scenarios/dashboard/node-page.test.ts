// The dashboard's page of a node is a picture of the explain page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { buildCountdowns } from '../../../src/dashboard/node-page/build-countdowns.ts';
import type { NodeOutlook } from '../../../src/controller/report/pages.ts';
import { parseExplanation } from '../../../src/dashboard/node-page/parse-explanation.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const tolerations = [
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
] as const;

/** The ends of the countdowns in seconds from now, as the page shows them. */
function ends(world: ControllerWorld): Readonly<Record<string, number | null>> {
  const outlook: NodeOutlook = JSON.parse(JSON.stringify(explainNode(world, 'a-0')));
  const nowMs = world.clock.nowMs();
  const { countdowns } = buildCountdowns(outlook, nowMs);
  return Object.fromEntries(
    countdowns.map(({ label, endMs }) => [label, endMs === null ? null : Math.round((endMs - nowMs) / 1_000)]),
  );
}

test('the countdowns of a node that becomes silent: heartbeat, taint, pod', async () => {
  await using world = aZonedWorld({ a: 5, b: 5 }).start();
  world.addPod('web', 'a-0', tolerations);
  await world.advance(20);
  const healthy = ends(world);
  assert.ok((healthy['Last heartbeat to silence'] ?? 0) > 35);
  await world.silentFor(30, 'a-0');
  const later = ends(world);
  assert.ok((later['Last heartbeat to silence'] ?? 99) < (healthy['Last heartbeat to silence'] ?? 0));
  await world.advance(60);
  const tainted = ends(world);
  assert.ok((tainted['Last heartbeat to silence'] ?? 1) < 0, 'silent since');
  const left = tainted['default/web'] ?? 0;
  assert.ok(left > 200 && left <= 300, String(left));
  await world.advance(100);
  assert.equal(ends(world)['default/web'], left - 100);
});

test('all lines of the explanation of a node are on its page', async () => {
  await using world = aZonedWorld({ a: 5, b: 5 }).start();
  world.addPod('web', 'a-0', tolerations);
  await world.silentFor(120, 'a-0');
  const text = describeNodeOutlook(explainNode(world, 'a-0'));
  const { title, rows } = parseExplanation(text);
  const shown = [title, ...rows.flatMap(({ label, text: words, details }) => [`${label}${words}`, ...details])];
  const withoutSpaces = (lines: readonly string[]): string => lines.join('').replaceAll(/\s/gu, '');
  assert.equal(withoutSpaces(shown), withoutSpaces(text.split('\n')));
  assert.ok(rows.some(({ label, details }) => label === 'evictions' && details[0]?.includes('default/web')));
});
