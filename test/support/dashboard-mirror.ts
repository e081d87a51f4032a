// A client of the dashboard's events: applies snapshots and deltas as the page does.
import assert from 'node:assert/strict';
import type { Delta, NodeCell, Sample, Snapshot, TimelineLine } from '../../src/dashboard/protocol.ts';

export class DashboardMirror {
  readonly nodes = new Map<string, NodeCell>();
  readonly timeline: TimelineLine[] = [];
  readonly samples: Sample[] = [];
  /** Without its nodes, timeline and samples, which are in the fields above. */
  state: Snapshot | undefined;
  /** The deltas since the start, in order. */
  readonly deltas: Delta[] = [];
  snapshots = 0;
  comments = 0;
  #rest = '';
  #id = -1;

  /** Text of the stream, in pieces of any size. */
  feed(text: string): void {
    const events = `${this.#rest}${text}`.split('\n\n');
    this.#rest = events.pop() ?? '';
    for (const event of events) this.#take(event.split('\n'));
  }

  /** The only one of these kinds of holds. */
  hold(kind: string): Snapshot['cluster']['holds'][number] | undefined {
    return this.state?.cluster.holds.find((hold) => hold.kind === kind);
  }

  #take(lines: readonly string[]): void {
    const fields = lines.map((line): readonly [string, string] => {
      const [name = '', ...value] = line.split(': ');
      return [name, value.join(': ')];
    });
    const valueOf = (name: string): string | undefined => fields.find(([field]) => field === name)?.[1];
    const data = fields.filter(([field]) => field === 'data').map(([, value]) => value);
    if (data.length === 0) return void (this.comments += lines[0]?.startsWith(':') === true ? 1 : 0);
    const id = Number(valueOf('id'));
    assert.ok(id >= this.#id, `event ${id} after ${this.#id}`);
    this.#id = id;
    const value: unknown = JSON.parse(data.join('\n'));
    if (valueOf('event') === 'snapshot') this.#replace(value as Snapshot);
    else this.#apply(value as Delta);
  }

  #replace(snapshot: Snapshot): void {
    this.snapshots += 1;
    this.state = snapshot;
    this.nodes.clear();
    for (const cell of snapshot.nodes) {
      assert.ok(!this.nodes.has(cell.name), `node ${cell.name} occurs twice`);
      this.nodes.set(cell.name, cell);
    }
    this.timeline.splice(0, this.timeline.length, ...snapshot.timeline);
    this.samples.splice(0, this.samples.length, ...snapshot.samples);
  }

  #apply(delta: Delta): void {
    assert.ok(this.state !== undefined, 'a delta before the first snapshot');
    assert.ok(Object.keys(delta).length > 0, 'an empty delta');
    this.deltas.push(delta);
    const { cluster = this.state.cluster, zones = this.state.zones } = delta;
    this.state = { ...this.state, cluster, zones };
    for (const cell of delta.nodes ?? []) this.nodes.set(cell.name, cell);
    for (const name of delta.removedNodes ?? []) this.nodes.delete(name);
    for (const line of delta.timeline ?? []) {
      assert.ok(line.id > (this.timeline.at(-1)?.id ?? 0), `line ${line.id} of the timeline occurs twice`);
      this.timeline.push(line);
    }
    if (delta.sample !== undefined) this.samples.push(delta.sample);
  }
}
