/** The evaluators of all resources: most are only counted (upstream `pkg/quota/v1/evaluator/core`). */
import { ownValue } from '../../api/json-map.ts';
import { mapAt, mapsAt, type MutableJsonMap, numberAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { addTo, type Amount, type Amounts, amountsAt, countOf, raiseTo } from './merge-amounts.ts';
import type { QuotaEvaluator } from './evaluator.ts';
import { type Measurement, noScopes } from './select-scopes.ts';
import { podEvaluator } from './pod-evaluator.ts';

/** Resources whose objects are counted under their own name too. */
const aliased: ReadonlySet<string> = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);
const unlimited: ReadonlySet<string> = new Set(['events']);
const claimTable = 'resourceclaims.resource.k8s.io';
const classSuffix = '.storageclass.storage.k8s.io/';
const deviceSuffix = '.deviceclass.resource.k8s.io/devices';
/** What a request for all devices counts as (upstream `AllocationResultsMaxSize`). */
const allDevices = 32;
const nanoPerUnit = 1_000_000_000n;

const serviceNames: ReadonlySet<string> = new Set([
  'count/services',
  'services',
  'services.nodeports',
  'services.loadbalancers',
]);

const serviceEvaluator: QuotaEvaluator = {
  measures: (name) => serviceNames.has(name),
  measure: (service) => ({ usage: usageOfService(service), scopes: noScopes }),
  handles: ({ endpoint }) => endpoint === '',
};

const volumeNames = ['persistentvolumeclaims', 'requests.storage'] as const;

const volumeClaimEvaluator: QuotaEvaluator = {
  measures: (name) =>
    name === 'count/persistentvolumeclaims' ||
    volumeNames.some((resource) => name === resource || name.endsWith(`${classSuffix}${resource}`)),
  measure: measureVolumeClaim,
  handles: ({ endpoint, stored }) => endpoint === '' || (endpoint === 'status' && stored !== undefined),
};

const deviceClaimEvaluator: QuotaEvaluator = {
  measures: (name) => name === `count/${claimTable}` || name.endsWith(deviceSuffix),
  measure: (claim) => ({ usage: usageOfDevices(claim), scopes: noScopes }),
  handles: ({ endpoint }) => endpoint === '',
};

const ownEvaluators: ReadonlyMap<string, QuotaEvaluator> = new Map([
  ['pods', podEvaluator],
  ['services', serviceEvaluator],
  ['persistentvolumeclaims', volumeClaimEvaluator],
  [claimTable, deviceClaimEvaluator],
]);

/** The evaluator of the resource of a table; undefined if no quota can limit it. */
export function makeEvaluator(table: string): QuotaEvaluator | undefined {
  return unlimited.has(table) ? undefined : (ownEvaluators.get(table) ?? countEvaluator(table));
}

/** Whether a change of an object in that table can change what it uses. */
export function changesUsage(table: string): boolean {
  return ownEvaluators.has(table);
}

function countEvaluator(table: string): QuotaEvaluator {
  const names = [`count/${table}`, ...(aliased.has(table) ? [table] : [])];
  const counted: Measurement = { usage: new Map(names.map((name) => [name, countOf(1)])), scopes: noScopes };
  return {
    measures: (name) => names.includes(name),
    measure: () => counted,
    handles: ({ endpoint, stored }) => endpoint === '' && stored === undefined,
  };
}

/** Node ports are counted as wanted: they are not allocated yet when a Service is created. */
function usageOfService({ spec }: Draft): Amounts {
  const type = textAt(spec, 'type');
  const ports = mapsAt(spec, 'ports');
  const isBalanced = type === 'LoadBalancer';
  const given = ports.filter((port) => numberAt(port, 'nodePort') !== 0).length;
  const allocated = isBalanced && spec?.['allocateLoadBalancerNodePorts'] === false ? given : ports.length;
  return new Map([
    ['count/services', countOf(1)],
    ['services', countOf(1)],
    ['services.nodeports', countOf(isBalanced || type === 'NodePort' ? allocated : 0)],
    ['services.loadbalancers', countOf(isBalanced ? 1 : 0)],
  ]);
}

function measureVolumeClaim(claim: Draft): Measurement {
  const usage = new Map([
    ['persistentvolumeclaims', countOf(1)],
    ['count/persistentvolumeclaims', countOf(1)],
  ]);
  const storage = storageOf(claim);
  if (storage !== undefined) usage.set('requests.storage', storage);
  const storageClass =
    claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? textAt(claim.spec, 'storageClassName');
  for (const resource of storageClass === '' ? [] : volumeNames) {
    const amount = usage.get(resource);
    if (amount !== undefined) usage.set(`${storageClass}${classSuffix}${resource}`, amount);
  }
  const classes = attributesClassesOf(claim);
  const scope = 'VolumeAttributesClass';
  return { usage, scopes: { names: new Set(classes.length > 0 ? [scope] : []), classes: { [scope]: classes } } };
}

/** In whole bytes; while a claim is expanded, what is allocated already if that is more. */
function storageOf({ spec, status }: Draft): Amount | undefined {
  const wanted = amountsAt(spec, 'resources', 'requests').get('storage');
  if (wanted === undefined) return undefined;
  const allocated = amountsAt(status, 'allocatedResources').get('storage');
  const { nano, ...rest } = allocated !== undefined && allocated.nano > wanted.nano ? allocated : wanted;
  if (nano % nanoPerUnit === 0n) return { nano, ...rest };
  return { nano: (nano / nanoPerUnit + 1n) * nanoPerUnit, format: rest.format };
}

function attributesClassesOf({ spec, status }: Draft): readonly string[] {
  const names = [
    textAt(spec, 'volumeAttributesClassName'),
    textAt(status, 'currentVolumeAttributesClassName'),
    textAt(status, 'modifyVolumeStatus', 'targetVolumeAttributesClassName'),
  ];
  return names.filter((name) => name !== '');
}

/** Devices by class; of alternatives, the most of each class. */
function usageOfDevices({ spec }: Draft): Amounts {
  const usage = new Map([[`count/${claimTable}`, countOf(1)]]);
  for (const request of mapsAt(spec, 'devices', 'requests')) {
    const alternatives = mapsAt(request, 'firstAvailable');
    const most = new Map<string, Amount>();
    for (const one of alternatives.length > 0 ? alternatives : [mapAt(request, 'exactly')])
      raiseTo(most, devicesOf(one));
    addTo(usage, most);
  }
  return usage;
}

function devicesOf(request: MutableJsonMap): Amounts {
  const className = textAt(request, 'deviceClassName');
  const counts: Readonly<Record<string, number>> = { ExactCount: numberAt(request, 'count'), All: allDevices };
  const count = ownValue(counts, textAt(request, 'allocationMode')) ?? 0;
  return className === '' || count === 0 ? new Map() : new Map([[`${className}${deviceSuffix}`, countOf(count)]]);
}
