import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mayHaveFailedTogether, ReadyNodes } from '../../../../src/controller/zones/ready-nodes.ts';

const aTime = fc.integer({ min: 0, max: 60 });
const aReadyNode = fc.record({
  lastFromMs: aTime,
  windowMs: fc.constantFrom(0, 3, 12),
  countsAfterMs: fc.constantFrom(20, 40),
  zone: fc.constantFrom('a', 'b'),
});
const aStop = fc.record({
  lastFromMs: fc.oneof(aTime, fc.constant(-Infinity)),
  windowMs: fc.constantFrom(0, 3, 12),
  unknownForMs: fc.constantFrom(0, 20, 30, 50),
});

test('as many nodes of a zone are counted as may have failed together with the node', () => {
  fc.assert(
    fc.property(fc.array(aReadyNode), aStop, (drawn, { lastFromMs, windowMs, unknownForMs }) => {
      const nodes = drawn.map((node, place) => ({
        ...node,
        node: `n${place}`,
        dueAtMs: node.lastFromMs + node.windowMs,
        untilMs: node.lastFromMs + node.countsAfterMs,
      }));
      const zoneOf = new Map(nodes.map(({ node, zone }) => [node, zone]));
      const ready = new ReadyNodes(nodes, (node) => [zoneOf.get(node) ?? '']);
      const stop = { lastFromMs, byMs: (lastFromMs === -Infinity ? 30 : lastFromMs) + windowMs, unknownForMs };
      for (const zone of ['a', 'b', 'c']) {
        const expected = nodes.filter((node) => node.zone === zone && mayHaveFailedTogether(node, stop));
        assert.equal(ready.countLost(zone, stop), expected.length);
      }
    }),
  );
});
