import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateService } from '../../../../../src/hollow-cluster/apiserver/kinds/service-validation.ts';
import { countReads } from '../../../../support/count-reads.ts';

test('repeated names, ports and node ports of a Service are found, each port read a few times only', () => {
  const { items, reads } = countReads(
    Array.from({ length: 2_000 }, (_, index) => ({
      name: `p${index % 1_999}`,
      port: 1 + (index % 1_999),
      nodePort: 1 + (index % 1_999),
      protocol: 'TCP',
    })),
  );
  const errors = validateService({ metadata: {}, spec: { type: 'NodePort', clusterIP: '', ports: items } });
  const repeated = errors.filter(({ reason }) => reason === 'FieldValueDuplicate').map(({ field }) => field);
  assert.deepEqual(repeated, ['spec.ports[1999].name', 'spec.ports[1999].nodePort', 'spec.ports[1999]']);
  assert.ok(reads() < 100_000, `${reads()} reads`);
});
