import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodView } from '../../../src/api/pod.ts';
import { viewPod } from '../../../src/api/pod.ts';
import type { NodeView } from '../../../src/api/node.ts';
import { PQueueLanes } from '../../../src/adapters/p-queue-lanes.ts';
import { ApiWriter } from '../../../src/controller/writer/api-writer.ts';
import { NewerAnswers } from '../../../src/informer/newer-answers.ts';
import { settled } from '../../support/manual-clock.ts';

/** A writer with one lane, onto an API that answers when told to. */
class Stand {
  readonly sent: string[] = [];
  readonly answers: (() => void)[] = [];
  leading = true;
  readonly writer = new ApiWriter({
    api: {
      get: () => assert.fail('nothing is read'),
      patch: () => assert.fail('nothing is patched'),
      delete: (_resource, { name }) => {
        this.sent.push(name);
        return new Promise((resolve) => this.answers.push(resolve));
      },
    },
    lanes: new PQueueLanes({ concurrencyMax: 1 }),
    leadership: { holds: () => this.leading },
    nodes: new NewerAnswers<NodeView>(() => undefined),
    decisions: { note: () => undefined },
    signal: new AbortController().signal,
  });

  async remove(name: string): Promise<string> {
    return (await this.writer.carryOut({ kind: 'delete-pod', pod: aPod(name) })).result;
  }

  async answer(): Promise<void> {
    this.answers.shift()?.();
    await settled();
  }
}

function aPod(name: string): PodView {
  return viewPod({ metadata: { name, namespace: 'd', uid: `uid-${name}` } });
}

test('leadership is asked for when a write leaves, not when it is wished for', async () => {
  const stand = new Stand();
  const [first, second] = [stand.remove('a'), stand.remove('b')];
  await settled();
  stand.leading = false;
  await stand.answer();
  assert.deepEqual([await first, await second], ['written', 'not-leader']);
  assert.deepEqual(stand.sent, ['a']);
});

test('a closed writer waits for what was sent and sends nothing more', async () => {
  const stand = new Stand();
  const [first, second] = [stand.remove('a'), stand.remove('b')];
  await settled();
  stand.writer.close();
  let drained = false;
  const done = stand.writer.drained().then(() => {
    drained = true;
  });
  await settled();
  assert.equal(drained, false);
  await stand.answer();
  await done;
  assert.deepEqual([await first, await second, await stand.remove('c')], ['written', 'not-leader', 'not-leader']);
  assert.deepEqual(stand.sent, ['a']);
});
