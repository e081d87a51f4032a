import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StaticPodSources } from '../../../src/cli/static-pod-sources.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { KeepingLogger } from '../../support/quiet.ts';

const periods = { fileCheckFrequency: 20_000, httpCheckFrequency: 20_000 };

function namesOf(podManifestPath: string | undefined, manifestUrl: string | undefined): readonly string[] {
  const means = { clock: new ManualClock(), logger: new KeepingLogger() };
  return new StaticPodSources({ ...periods, podManifestPath, manifestUrl }, means).of('n').map(({ name }) => name);
}

test('static pods come from where one was told that there are some', () => {
  assert.deepEqual(namesOf(undefined, undefined), []);
  assert.deepEqual(namesOf('/manifests', undefined), ['file']);
  assert.deepEqual(namesOf(undefined, 'http://localhost/pods'), ['http']);
  assert.deepEqual(namesOf('/manifests', 'http://localhost/pods'), ['file', 'http']);
});
