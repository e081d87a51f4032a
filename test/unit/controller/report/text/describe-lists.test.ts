import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeList } from '../../../../../src/controller/report/pages.ts';
import { describeEvictionList, describeNodeList } from '../../../../../src/controller/report/text/describe-lists.ts';

const when = (inSeconds: number | null) => ({ estimate: true, at: null, inSeconds }) as const;
const next = { act: 'mark-unknown', subject: null, given: 'no-heartbeat', when: when(12) } as const;

test('nodes are a table with ages as kubectl prints them', () => {
  const base = { zone: 'r/a', policy: null, state: 'suspect', ready: 'True', pods: 2, holds: [], next } as const;
  const nodes: NodeList['nodes'] = [
    { ...base, name: 'n1', since: { at: '', secondsAgo: 45 } },
    {
      ...base,
      name: 'n-long',
      since: { at: '', secondsAgo: 4_000 },
      holds: ['stale'],
      next: { ...next, when: when(null) },
    },
    { ...base, name: 'n3', since: null, next: { ...next, act: 'none', when: null } as const },
  ];
  assert.equal(
    describeNodeList({ nodes, total: 5, continue: null }),
    [
      'NODE     ZONE   STATE     SINCE   PODS   NEXT                  HELD BY',
      'n1       r/a    suspect   45s     2      mark-unknown in 12s   -',
      'n-long   r/a    suspect   66m     2      mark-unknown held     stale',
      'n3       r/a    suspect   -       2      -                     -',
      '2 more',
      '',
    ].join('\n'),
  );
  assert.equal(describeNodeList({ nodes: [], total: 0, continue: null }), 'no nodes in these states\n');
});

test('evictions are a table with the time that is left', () => {
  const evictions = [
    { pod: 'default/web', node: 'n1', when: when(0) },
    { pod: 'default/db', node: 'n1', when: when(7_200) },
  ];
  const text = 'POD           NODE   DUE\ndefault/web   n1     now\ndefault/db    n1     in 2h\n';
  assert.equal(describeEvictionList({ evictions, total: 2 }), text);
  assert.equal(describeEvictionList({ evictions: [], total: 0 }), 'no evictions scheduled\n');
});
