import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NodeLogger } from '../../../../../src/hollow-cluster/kubelet/fleet/node-logger.ts';
import { RecordingLogger } from '../../../../support/fakes.ts';

it('a node logger adds the node to each line, and leaves the rest unchanged', () => {
  const kept = new RecordingLogger();
  const logger = new NodeLogger('n1', kept);
  for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level]({ reason: 'r' }, `a ${level} line`);
  assert.deepEqual(
    kept.lines,
    (['debug', 'info', 'warn', 'error'] as const).map((level) => {
      return { level, fields: { node: 'n1', reason: 'r' }, message: `a ${level} line` };
    }),
  );
});
