import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplicaWorld } from '../../support/replica-world.ts';

test('changed settings reach each replica at another time, and in a drill at once', async () => {
  using world = new ReplicaWorld({ replicas: 2, settingsLagMsMax: 20_000 });
  await world.advance(30_000);
  const knownTo = (): readonly boolean[] => [...world.world.replicas.values()].map(({ config }) => config.paused);
  const end = world.world.changeSettings({ paused: true });
  const seen = new Set<string>();
  for (let each = 0; each < 40; each += 1) {
    seen.add(knownTo().join());
    await world.advance(500);
  }
  assert.ok(seen.has('false,false') && (seen.has('true,false') || seen.has('false,true')), [...seen].join(' '));
  assert.deepEqual(knownTo(), [true, true]);
  world.world.settingsLag = false;
  end();
  assert.deepEqual(knownTo(), [false, false]);
});
