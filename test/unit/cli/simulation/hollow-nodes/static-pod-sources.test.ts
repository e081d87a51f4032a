import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StaticPodSources } from '../../../../../src/cli/simulation/hollow-nodes/static-pod-sources.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { RecordingLogger } from '../../../../support/fakes.ts';

const periods = { fileCheckFrequencyMs: 20_000, httpCheckFrequencyMs: 20_000 };

function namesOf(podManifestPath: string | undefined, manifestUrl: string | undefined): readonly string[] {
  const dependencies = { clock: new ManualClock(), logger: new RecordingLogger() };
  return new StaticPodSources({ ...periods, podManifestPath, manifestUrl }, dependencies)
    .of('n')
    .map(({ name }) => name);
}

test('static pod sources follow from the flags', () => {
  assert.deepEqual(namesOf(undefined, undefined), []);
  assert.deepEqual(namesOf('/manifests', undefined), ['file']);
  assert.deepEqual(namesOf(undefined, 'http://localhost/pods'), ['http']);
  assert.deepEqual(namesOf('/manifests', 'http://localhost/pods'), ['file', 'http']);
});
