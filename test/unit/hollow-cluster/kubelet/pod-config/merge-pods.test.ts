import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { configAnnotations } from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import {
  mergePods,
  planDeliveries,
  type SourcePods,
} from '../../../../../src/hollow-cluster/kubelet/pod-config/merge-pods.ts';
import type { PodUpdate } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-update.ts';

interface Shape {
  readonly id: number;
  readonly label: string;
  readonly note: string;
  readonly phase: string;
  readonly deleted: boolean;
}

const shape = fc.record<Shape>({
  id: fc.integer({ min: 0, max: 4 }),
  label: fc.constantFrom('a', 'b'),
  note: fc.constantFrom('x', 'y'),
  phase: fc.constantFrom('Pending', 'Running'),
  deleted: fc.boolean(),
});
const list = fc.uniqueArray(shape, { selector: ({ id }) => id });

function podOf({ id, label, note, phase, deleted }: Shape): Pod {
  const deletion = deleted ? { deletionTimestamp: '2026-01-02T03:04:35Z', deletionGracePeriodSeconds: 30 } : {};
  return {
    metadata: {
      name: `p${id}`,
      namespace: 'default',
      uid: `u${id}`,
      labels: { label },
      annotations: { note },
      ...deletion,
    },
    spec: { nodeName: 'n1' },
    status: { phase },
  };
}

/** The visible fields of a pod after the mux. */
function shown({ metadata, spec, status }: Pod): unknown {
  const { uid, labels, annotations, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return { uid, labels, note: annotations?.['note'], deletionTimestamp, deletionGracePeriodSeconds, spec, status };
}

const shownByUid = (pods: Iterable<Pod>): readonly unknown[] =>
  [...pods].toSorted((a, b) => ((a.metadata.uid ?? '') < (b.metadata.uid ?? '') ? -1 : 1)).map(shown);

/** A receiver that applies every update. */
class Believer {
  readonly pods = new Map<string, Pod>();

  hear({ op, pods }: PodUpdate): void {
    for (const pod of pods) {
      const uid = pod.metadata.uid ?? '';
      assert.equal(this.pods.has(uid), op !== 'ADD', `${op} of ${uid}`);
      if (op === 'REMOVE') this.pods.delete(uid);
      else this.pods.set(uid, pod);
    }
  }
}

describe('merging the pods of a source', () => {
  it('a receiver of every update has the same pods as the source', () => {
    const order = ['REMOVE', 'ADD', 'UPDATE', 'DELETE', 'RECONCILE'];
    fc.assert(
      fc.property(fc.array(list, { maxLength: 6 }), (lists) => {
        const believer = new Believer();
        let known: SourcePods = new Map();
        for (const [index, shapes] of lists.entries()) {
          const input = { source: 'api', pods: shapes.map(podOf) } as const;
          const changes = mergePods({ known, ...input, seenAt: `t${index}` });
          known = changes.pods;
          const firstSet = index === 0;
          const updates = planDeliveries({ source: 'api', changes, firstSet });
          const ops = updates.map(({ op }) => order.indexOf(op));
          assert.deepEqual(
            ops,
            [...new Set(ops)].toSorted((a, b) => a - b),
            'each group once, in order',
          );
          if (firstSet) assert.ok(updates.length > 0, 'the first list of a source causes an update');
          const uids = updates.flatMap(({ pods }) => pods.map((pod) => pod.metadata.uid));
          assert.equal(new Set(uids).size, uids.length, 'a pod is in one update only');
          for (const update of updates) believer.hear(update);
          assert.deepEqual(shownByUid(believer.pods.values()), shownByUid(input.pods));
        }
      }),
    );
  });

  it('sends nothing for an unchanged list, whether of the same or of equal objects', () => {
    fc.assert(
      fc.property(list, (shapes) => {
        const pods = shapes.map(podOf);
        const input = { source: 'api', pods } as const;
        const first = mergePods({ known: new Map(), ...input, seenAt: 't0' });
        for (const again of [pods, shapes.map(podOf)]) {
          const second = mergePods({ known: first.pods, ...input, pods: again, seenAt: 't1' });
          const { removes, adds, updates, deletes, reconciles } = second;
          assert.deepEqual([removes, adds, updates, deletes, reconciles], [[], [], [], [], []]);
          for (const [uid, { pod }] of second.pods) assert.equal(pod, first.pods.get(uid)?.pod);
        }
      }),
    );
  });

  it('removes labels, deletion and status that are no longer set', () => {
    const seen = { known: new Map(), seenAt: 't0' };
    const before = podOf({ id: 1, label: 'a', note: 'x', phase: 'Running', deleted: true });
    const first = mergePods({ ...seen, source: 'api', pods: [before] });
    const after: Pod = { metadata: { name: 'p1', namespace: 'default', uid: 'u1' } };
    const second = mergePods({ known: first.pods, source: 'api', pods: [after], seenAt: 't1' });
    const annotations = { [configAnnotations.source]: 'api', [configAnnotations.seen]: 't0' };
    assert.deepEqual(second.updates, [{ metadata: { ...after.metadata, annotations } }]);
  });
});
