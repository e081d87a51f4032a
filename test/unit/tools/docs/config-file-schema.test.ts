// The published JSON schema against the controller: a file that one of them rejects, the other must reject too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import * as z from 'zod';
import { parseControllerConfig } from '../../../../src/cli/controller/config.ts';
import { controllerFlags } from '../../../../src/cli/controller/flags.ts';
import { acceptedBy, type FlagDefinition, keyOf } from '../../../../src/cli/flags/flag-definition.ts';

type File = Readonly<Record<string, unknown>>;

const published = readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'config.schema.json'), 'utf8');
const schema = z.fromJSONSchema(JSON.parse(published));
const head = { apiVersion: 'nodelifecycle/v1alpha1', kind: 'ControllerConfiguration' };
const settings: readonly FlagDefinition[] = controllerFlags.filter((flag: FlagDefinition) => flag.onlyAsFlag !== true);

const fitsSchema = (file: File): boolean => schema.safeParse(file).success;

function runs(file: File): boolean {
  return 'config' in parseControllerConfig(['--config=f'], () => stringify(file));
}

const samples: readonly (readonly [File, boolean])[] = [
  [{}, true],
  [{ controllers: '*,-taint-eviction-controller' }, true],
  [{ controllers: '' }, false],
  [{ controllers: ['*'] }, false],
  [{ featureGates: { TaintBasedEvictions: 'false' } }, true],
  [{ featureGates: { TaintBasedEvictions: false } }, false],
  [{ featureGates: 'TaintBasedEvictions=false' }, false],
  [{ nodeMonitorPeriod: '1s' }, true],
  [{ nodeMonitorPeriod: '0.5s' }, true],
  [{ nodeMonitorPeriod: '0s' }, false],
  [{ nodeMonitorPeriod: '-1s' }, false],
  [{ podEvictionTimeout: '0s', featureGates: { TaintBasedEvictions: 'false' } }, false],
  [{ podEvictionTimeout: '1s', featureGates: { TaintBasedEvictions: 'false' } }, true],
  [{ nodeMonitorPeriod: 5 }, false],
  [{ nodeMonitorPeriod: '5' }, false],
  [{ nodeMonitorPeriod: '5 s' }, false],
  [{ nodeMonitorPeriod: null }, false],
  [{ controlPlanePathFailureHold: '0s' }, true],
  [{ controlPlanePathFailureHold: '0' }, true],
  [{ controlPlanePathFailureHold: '-1s' }, true],
  [{ controlPlanePathFailureHold: '-1.5s' }, false],
  [{ controlPlanePathFailureHold: '-2s' }, false],
  [{ controlPlanePathFailureHold: '-1m' }, false],
  [{ nodeEvictionRate: 0 }, true],
  [{ nodeEvictionRate: -0.1 }, false],
  [{ nodeEvictionRate: '0.1' }, false],
  [{ podMarkingRate: 0 }, false],
  [{ podMarkingRate: 0.001 }, true],
  [{ unhealthyZoneThreshold: 1 }, true],
  [{ unhealthyZoneThreshold: 1.01 }, false],
  [{ largeClusterSizeThreshold: 1.5 }, false],
  [{ concurrentWrites: 0 }, false],
  [{ concurrentWrites: 257 }, false],
  [{ kubeApiContentType: 'application/yaml' }, false],
  [{ eventsApi: 'events.k8s.io' }, true],
  [{ leaderElect: 'yes' }, false],
  [{ leaderElectResourceName: 'Not A Name' }, false],
  [{ leaderElectResourceNamespace: 'kube.system' }, false],
  [{ metricsBindAddress: '0' }, true],
  [{ metricsBindAddress: '[::1]:8080' }, true],
  [{ metricsBindAddress: ':65535' }, true],
  [{ metricsBindAddress: ':65536' }, false],
  [{ metricsBindAddress: '8080' }, false],
  [{ metricsBindAddress: 8080 }, false],
  [{ v: 10 }, true],
  [{ v: 11 }, false],
  [{ config: 'g' }, false],
  [{ validateOnly: true }, false],
  [{ nodeEvictionRates: 1 }, false],
];

test('schema and controller accept and reject the same files', () => {
  for (const [setting, accepted] of samples) {
    const file = { ...head, ...setting };
    assert.equal(runs(file), accepted, `the controller: ${JSON.stringify(setting)}`);
    assert.equal(fitsSchema(file), accepted, `the schema: ${JSON.stringify(setting)}`);
  }
});

test('apiVersion and kind are required, and other values are rejected', () => {
  for (const file of [{}, { kind: head.kind }, { ...head, apiVersion: 'v2' }, { ...head, kind: 'Pod' }]) {
    assert.equal(fitsSchema(file), false);
    assert.equal(runs(file), false);
  }
});

test('constraints between settings are checked by the controller only', () => {
  const files: readonly File[] = [
    { nodeMonitorGracePeriod: '5s' },
    { nodeMonitorPeriod: '1h2m3.5s' },
    { podEvictionTimeout: '1m' },
    { controllers: 'replicaset' },
    { featureGates: { NodeLease: 'true' } },
    { leaderElectLeaseDuration: '10s' },
    { leaderElectLeaseDuration: '15500ms' },
    { leaderElectRetryPeriod: '9s' },
  ];
  for (const file of files) {
    assert.equal(fitsSchema({ ...head, ...file }), true, JSON.stringify(file));
    assert.equal(runs({ ...head, ...file }), false, JSON.stringify(file));
  }
});

test('property: the controller rejects every file that the schema rejects', () => {
  const value = fc.oneof(
    fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e9, '', '0', '1s', '-1s', '0s', '1h', ':80', 'core', '*', {}, []),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ maxLength: 6 }),
  );
  const aFile = fc.dictionary(fc.constantFrom(...settings.map(({ name }) => keyOf(name)), 'unknownSetting'), value, {
    maxKeys: 3,
  });
  fc.assert(
    fc.property(aFile, (file) => {
      if (!fitsSchema({ ...head, ...file })) assert.equal(runs({ ...head, ...file }), false, JSON.stringify(file));
    }),
  );
});

test('every setting is in the schema with its default, and its description states whether it is live', () => {
  const { properties } = JSON.parse(published) as {
    readonly properties: Readonly<Record<string, { readonly default?: unknown; readonly description?: string }>>;
  };
  for (const flag of settings) {
    const property = properties[keyOf(flag.name)];
    assert.equal(property?.default, flag.default, `${flag.name}: ${acceptedBy(flag)}`);
    assert.equal(property?.description?.endsWith('. Live.') === true, flag.live === true, flag.name);
  }
});
