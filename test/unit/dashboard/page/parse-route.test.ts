import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nodeStates } from '../../../../src/dashboard/protocol.ts';
import { formatRoute } from '../../../../src/dashboard/page/format-route.ts';
import { parseRoute, type Route } from '../../../../src/dashboard/page/parse-route.ts';

const overview: Route = {
  node: null,
  filter: { zone: null, policy: null, states: [], name: '' },
  view: 'grid',
  sort: 'name',
  descending: false,
  page: 1,
  timeline: { kind: null, text: '', warnings: false },
  theme: 'auto',
  section: null,
};

test('an empty hash is the overview without a filter', () => {
  for (const hash of ['', '#', '#/', '#/?']) assert.deepEqual(parseRoute(hash), overview);
});

test('the address has filter, view, order, page, timeline and theme', () => {
  const hash =
    '#/?zone=z1&policy=&state=unreachable,tainted&name=abc&view=table&sort=pods&desc=1&page=3&tkind=taint&ttext=x&twarn=1&theme=light&section=zones';
  assert.deepEqual(parseRoute(hash), {
    node: null,
    filter: { zone: 'z1', policy: '', states: ['unreachable', 'tainted'], name: 'abc' },
    view: 'table',
    sort: 'pods',
    descending: true,
    page: 3,
    timeline: { kind: 'taint', text: 'x', warnings: true },
    theme: 'light',
    section: 'zones',
  });
});

test('unknown and malformed values have their defaults', () => {
  const hash = '#/elsewhere?state=broken,&view=cards&sort=age&desc=yes&page=-2&theme=pink&twarn=maybe';
  assert.deepEqual(parseRoute(hash), overview);
  for (const page of ['0', '1.5', 'x', '1e99']) assert.equal(parseRoute(`#/?page=${page}`).page, 1);
});

test('a node is named in the path, percent-encoded', () => {
  assert.equal(parseRoute('#/nodes/worker-1?zone=a').node, 'worker-1');
  assert.equal(parseRoute('#/nodes/%3Cscript%3E').node, '<script>');
  assert.equal(parseRoute('#/nodes/%').node, '%');
  assert.equal(parseRoute('#/nodes/').node, null);
});

test('defaults are left out of the address', () => {
  assert.equal(formatRoute(overview), '#/');
  assert.equal(formatRoute({ ...overview, node: 'a/b' }), '#/nodes/a%2Fb');
  assert.equal(formatRoute({ ...overview, filter: { ...overview.filter, policy: '' } }), '#/?policy=');
});

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const routes: fc.Arbitrary<Route> = fc.record(
  {
    node: fc.option(text.filter((name) => name !== '')),
    filter: fc.record(
      {
        zone: fc.option(text),
        policy: fc.option(text),
        states: fc.subarray([...nodeStates]),
        name: text,
      },
      { noNullPrototype: true },
    ),
    view: fc.constantFrom('grid', 'table'),
    sort: fc.constantFrom('name', 'zone', 'policy', 'state', 'since', 'pods', 'held', 'next'),
    descending: fc.boolean(),
    page: fc.integer({ min: 1, max: 1_000 }),
    timeline: fc.record({ kind: fc.option(text), text, warnings: fc.boolean() }, { noNullPrototype: true }),
    theme: fc.constantFrom('auto', 'light', 'dark'),
    section: fc.option(text),
  },
  { noNullPrototype: true },
);

test('what is in the address is read back, whatever the names are', () => {
  fc.assert(fc.property(routes, (route) => assert.deepEqual(parseRoute(formatRoute(route)), route)));
});
