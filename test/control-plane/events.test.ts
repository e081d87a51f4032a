// Events recorded through both APIs on a real kube-apiserver: created, aggregated, read through both APIs and by kubectl.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { loadConnection } from '../../src/machinery/kubeconfig/connection.ts';
import { type EventsApi, eventsApis } from '../../src/machinery/events/events-api.ts';
import { RunningBroadcaster } from '../support/running-broadcaster.ts';
import { makeKubeApi } from '../support/make-kube-api.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import type { KubeJson } from './rest-client.ts';
import { waitUntil } from './wait-until.ts';

const binaries = findControlPlane();
const skip = 'missing' in binaries ? binaries.missing : false;
const soon = { timeoutMs: 30_000 };
const corePath = '/api/v1/namespaces/default/events';
const newerPath = '/apis/events.k8s.io/v1/namespaces/default/events';

interface EventList extends KubeJson {
  readonly items: readonly EventJson[];
}

/** An Event of either API, with the fields that the tests use. */
interface EventJson extends KubeJson {
  readonly metadata: { readonly name: string; readonly annotations?: unknown };
  readonly action?: string;
  readonly count?: number;
  readonly deprecatedCount?: number;
  readonly message?: string;
  readonly note?: string;
  readonly related?: unknown;
  readonly reportingInstance?: string;
  readonly series?: { readonly count: number };
}

describe('events on a real control plane', { skip }, () => {
  let plane: ControlPlane;
  const ends: (() => Promise<unknown>)[] = [];

  before(async () => {
    plane = await startControlPlane();
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });
  after(() => plane.stop());

  async function startRecording(eventsApi: EventsApi, kubeconfig = plane.kubeconfigFile): Promise<RunningBroadcaster> {
    const recording = new RunningBroadcaster(eventsApi, makeKubeApi(await loadConnection({ kubeconfig })));
    ends.push(() => recording.end());
    return recording;
  }

  async function eventsAbout(path: string, object: string): Promise<readonly EventJson[]> {
    const field = path === corePath ? 'involvedObject.name' : 'regarding.name';
    const { items } = await plane.client().must<EventList>('GET', `${path}?fieldSelector=${field}=${object}`);
    return items;
  }

  async function theEvent(path: string, object: string): Promise<EventJson> {
    const [event, ...more] = await eventsAbout(path, object);
    assert.ok(event !== undefined && more.length === 0, `${more.length + 1} events about ${object}`);
    return event;
  }

  const countsSeen: Readonly<Record<EventsApi, (core: EventJson, newer: EventJson) => readonly unknown[]>> = {
    core: (core, newer) => [core.count, newer.deprecatedCount],
    'events.k8s.io': (core, newer) => [core.series?.count, newer.series?.count],
  };

  for (const eventsApi of eventsApis) {
    const object = `recorded-in-${eventsApi.replaceAll('.', '-')}`;

    test(`${eventsApi}: repeats are one Event with a count, in both APIs and in kubectl`, async () => {
      const recording = await startRecording(eventsApi);
      for (let time = 0; time < 4; time++) recording.record(object, `message of the event`);
      await recording.flush();
      const [core, newer] = [await theEvent(corePath, object), await theEvent(newerPath, object)];
      assert.equal(core.metadata.name, newer.metadata.name);
      assert.equal(core.message, 'message of the event');
      assert.equal(newer.note, 'message of the event');
      assert.deepEqual(countsSeen[eventsApi](core, newer), [4, 4]);
      const { stdout: table } = await plane.kubectl(['get', 'events', '-o', 'wide']);
      const line = table.split('\n').find((text) => text.includes(`node/${object}`)) ?? '';
      assert.match(line, /Normal\s+Reported\s+node\/\S+\s+reporter, \S+\s+message of the event\s+\S+\s+4\s/);
      const shown = await plane.kubectl(['events', '--for', `node/${object}`]);
      assert.match(shown.stdout, /\(x4 over \S+\)\s+Normal\s+Reported\s+Node\/\S+\s+message of the event/);
      assert.deepEqual(recording.drops, []);
    });

    test(`${eventsApi}: an Event with unusual and long fields is accepted`, async () => {
      const recording = await startRecording(eventsApi);
      const about = { kind: 'Node', name: `Unusual_Name-${eventsApi}` };
      recording.recorder.record({
        about,
        type: 'Warning',
        reason: 'r'.repeat(200),
        message: '€'.repeat(700),
        annotations: { a: 'b' },
        related: { kind: 'Pod', namespace: 'default', name: 'p', apiVersion: 'v1' },
        action: 'é'.repeat(100),
      });
      await recording.flush();
      assert.deepEqual(recording.drops, []);
      const event = await theEvent(newerPath, about.name);
      assert.equal(event.reason?.length, eventsApi === 'core' ? 200 : 128);
      assert.match(event.metadata.name, /^[0-9a-f-]{36}$/);
      assert.deepEqual(event.metadata.annotations, { a: 'b' });
      const related = { kind: 'Pod', namespace: 'default', name: 'p', apiVersion: 'v1' };
      assert.deepEqual(
        [event.note, event.action, event.related],
        eventsApi === 'core' ? ['€'.repeat(700), undefined, undefined] : ['€'.repeat(341), 'é'.repeat(64), related],
      );
    });

    test(`${eventsApi}: a repeat of a deleted Event creates it again with its count`, async () => {
      const recording = await startRecording(eventsApi);
      const gone = `${object}-gone`;
      recording.record(gone, 'm');
      await recording.settle();
      const { metadata } = await theEvent(corePath, gone);
      await plane.client().must('DELETE', `${corePath}/${metadata.name}`);
      recording.record(gone, 'm');
      await recording.flush();
      const [core, newer] = [await theEvent(corePath, gone), await theEvent(newerPath, gone)];
      assert.deepEqual(countsSeen[eventsApi](core, newer), [2, 2]);
    });

    test(`${eventsApi}: Events recorded during an outage of the API server are sent afterwards`, async () => {
      const recording = await startRecording(eventsApi);
      const away = `${object}-away`;
      await plane.killApiServer();
      for (const reason of ['First', 'Second', 'First']) recording.record(away, 'm', reason);
      await plane.restartApiServer();
      await recording.settle();
      await recording.flush();
      const recorded = await eventsAbout(newerPath, away);
      assert.deepEqual(
        recorded.map((event) => `${event.reason} ${event.series?.count ?? event.deprecatedCount ?? 1}`).sort(),
        ['First 2', 'Second 1'],
      );
      assert.deepEqual(recording.drops, []);
    });

    test(`${eventsApi}: create and patch of events in its API group are sufficient permissions`, async () => {
      const group = eventsApi === 'core' ? '' : eventsApi;
      const allowed = await reporter(`allowed-${group}x`.replaceAll('.', '-'), group);
      const refused = await reporter(`refused-${group}x`.replaceAll('.', '-'), group === '' ? 'events.k8s.io' : '');
      const [may, mayNot] = [await startRecording(eventsApi, allowed), await startRecording(eventsApi, refused)];
      for (const recording of [may, mayNot])
        for (let time = 0; time < 2; time++) recording.record(`${object}-rights`, 'm');
      await may.flush();
      await mayNot.flush();
      await theEvent(corePath, `${object}-rights`);
      assert.deepEqual(may.drops, []);
      assert.deepEqual(mayNot.drops, ['rejected 2']);
    });
  }

  /** A kubeconfig of a service account that may create and patch events of this API group. */
  async function reporter(name: string, group: string): Promise<string> {
    const token = await plane.addServiceAccount('default', name);
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const rules = [{ apiGroups: [group], resources: ['events'], verbs: ['create', 'patch'] }];
    await plane.client().must('POST', `${rbac}/clusterroles`, { metadata: { name }, rules });
    await plane.client().must('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name }],
    });
    return plane.kubeconfigFor(token);
  }

  test('nlc controller --events-api=events.k8s.io records Events there with its reporting instance', async () => {
    const controller = NlcProcess.controller(
      plane.kubeconfigFile,
      '--events-api=events.k8s.io',
      '--leader-elect=false',
    );
    ends.push(() => controller.kill());
    await plane.client().must('POST', '/api/v1/nodes', { metadata: { name: 'registered' } });
    const event = await waitUntil('the event', soon, async () => (await eventsAbout(newerPath, 'registered'))[0]);
    assert.deepEqual([event.reason, event.action], ['RegisteredNode', 'RegisteredNode']);
    assert.match(event.reportingInstance ?? '', /^node-controller-./);
    assert.equal((await controller.terminate()).code, 0);
  });
});
