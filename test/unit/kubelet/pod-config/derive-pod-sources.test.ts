import assert from 'node:assert/strict';
import { it } from 'node:test';
import { derivePodSources } from '../../../../src/kubelet/pod-config/derive-pod-sources.ts';

it('pod sources are named, each once, or all together', () => {
  assert.deepEqual(derivePodSources([]), []);
  assert.deepEqual(derivePodSources(['api', 'file', 'api']), ['file', 'api']);
  assert.deepEqual(derivePodSources(['*', 'api']), ['file', 'http', 'api']);
  const message = 'pod source: got "disk"; accepted: file, http, api, *';
  assert.throws(() => derivePodSources(['api', 'disk']), { name: 'RangeError', message });
  assert.throws(() => derivePodSources(['']), RangeError);
});
