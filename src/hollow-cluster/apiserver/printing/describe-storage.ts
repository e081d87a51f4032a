/** Volumes of the core group and the group storage.k8s.io (upstream `printPersistentVolume`, `printStorageClass` ...). */
import { canonicalQuantity } from '../../../machinery/api/quantity.ts';
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { isMap, mapsAt, textAt, textsAt, valueAt } from '../select-field.ts';
import {
  ageColumn,
  booleanColumn,
  column,
  countColumn,
  mixedColumn,
  nameColumn,
  type PrintedColumn,
  wideColumn,
} from './describe-columns.ts';

const classAnnotation = 'volume.beta.kubernetes.io/storage-class';
const defaultClassAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
] as const;

/** In the order in which they are printed. */
const accessModes = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

const attributesClassColumn = column(
  'VolumeAttributesClass',
  'Name of its VolumeAttributesClass.',
  (volume) => optionalText(volume, 'spec', 'volumeAttributesClassName') ?? '<unset>',
);

const volumeModeColumn = wideColumn(
  'VolumeMode',
  'Filesystem or Block.',
  (volume) => optionalText(volume, 'spec', 'volumeMode') ?? '<unset>',
);

const storageClassColumn = column(
  'StorageClass',
  'Name of its StorageClass.',
  (volume) =>
    optionalText(volume, 'metadata', 'annotations', classAnnotation) ?? textAt(volume, 'spec', 'storageClassName'),
);

const phaseColumn = column('Status', 'Phase, or Terminating while it is being deleted.', (volume) =>
  textAt(volume, 'metadata', 'deletionTimestamp') === '' ? textAt(volume, 'status', 'phase') : 'Terminating',
);

export const persistentVolumeColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Capacity', 'Size of the volume.', (volume) => describeSize(volume, 'spec')),
  column('Access Modes', 'Ways in which it can be mounted.', (volume) => describeAccessModes(volume, 'spec')),
  column('Reclaim Policy', 'What happens to the volume when its claim is deleted.', (volume) =>
    textAt(volume, 'spec', 'persistentVolumeReclaimPolicy'),
  ),
  phaseColumn,
  column('Claim', 'Namespace and name of the claim to which it is bound.', describeClaim),
  storageClassColumn,
  attributesClassColumn,
  column('Reason', 'Reason of a failure, in CamelCase.', (volume) => textAt(volume, 'status', 'reason')),
  ageColumn,
  volumeModeColumn,
];

export const volumeClaimColumns: readonly PrintedColumn[] = [
  nameColumn,
  phaseColumn,
  column('Volume', 'Name of the volume to which it is bound.', (claim) => textAt(claim, 'spec', 'volumeName')),
  column('Capacity', 'Size of its volume.', (claim) => (isBound(claim) ? describeSize(claim, 'status') : '')),
  column('Access Modes', 'Ways in which its volume can be mounted.', (claim) =>
    isBound(claim) ? describeAccessModes(claim, 'status') : '',
  ),
  storageClassColumn,
  attributesClassColumn,
  ageColumn,
  volumeModeColumn,
];

export const storageClassColumns: readonly PrintedColumn[] = [
  { ...nameColumn, cell: describeClassName },
  column('Provisioner', 'Name of the provisioner.', (storageClass) => textAt(storageClass, 'provisioner')),
  column(
    'ReclaimPolicy',
    'What happens to its volumes when their claims are deleted.',
    (storageClass) => textAt(storageClass, 'reclaimPolicy') || 'Delete',
  ),
  column(
    'VolumeBindingMode',
    'When volumes are provisioned and bound.',
    (storageClass) => textAt(storageClass, 'volumeBindingMode') || 'Immediate',
  ),
  mixedColumn('AllowVolumeExpansion', 'Whether its volumes can be expanded.', (storageClass) =>
    isTrue(storageClass, 'allowVolumeExpansion'),
  ),
  ageColumn,
];

export const attributesClassColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('DriverName', 'Name of the CSI driver.', (attributesClass) => textAt(attributesClass, 'driverName')),
  ageColumn,
];

export const volumeAttachmentColumns: readonly PrintedColumn[] = [
  nameColumn,
  { ...column('Attacher', 'Name of the driver.', (it) => textAt(it, 'spec', 'attacher')), format: 'name' },
  column('PV', 'Name of the volume.', (it) => textAt(it, 'spec', 'source', 'persistentVolumeName')),
  column('Node', 'Node to which the volume is attached.', (it) => textAt(it, 'spec', 'nodeName')),
  booleanColumn('Attached', 'Whether the volume is attached.', (it) => isTrue(it, 'status', 'attached')),
  ageColumn,
];

export const csiNodeColumns: readonly PrintedColumn[] = [
  nameColumn,
  countColumn('Drivers', 'Number of CSI drivers on the node.', (node) => mapsAt(node, 'spec', 'drivers').length),
  ageColumn,
];

export const csiDriverColumns: readonly PrintedColumn[] = [
  nameColumn,
  booleanColumn('AttachRequired', 'Whether volumes are attached before they are mounted.', (driver) => {
    return valueAt(driver, 'spec', 'attachRequired') !== false;
  }),
  booleanColumn('PodInfoOnMount', 'Whether the driver gets the name of the pod when a volume is mounted.', (driver) =>
    isTrue(driver, 'spec', 'podInfoOnMount'),
  ),
  booleanColumn('StorageCapacity', 'Whether the driver reports its storage capacity.', (driver) =>
    isTrue(driver, 'spec', 'storageCapacity'),
  ),
  column('TokenRequests', 'Audiences of the service account tokens that the driver gets.', describeAudiences),
  booleanColumn('RequiresRepublish', 'Whether mounted volumes are published again from time to time.', (driver) =>
    isTrue(driver, 'spec', 'requiresRepublish'),
  ),
  column('Modes', 'Kinds of volumes of the driver.', (driver) => {
    return textsAt(driver, 'spec', 'volumeLifecycleModes').join(',') || '<none>';
  }),
  ageColumn,
];

function describeClassName(storageClass: JsonMap): string {
  const isDefault = defaultClassAnnotations.some(
    (annotation) => textAt(storageClass, 'metadata', 'annotations', annotation) === 'true',
  );
  return `${textAt(storageClass, 'metadata', 'name')}${isDefault ? ' (default)' : ''}`;
}

function describeClaim(volume: JsonMap): string {
  const claim = valueAt(volume, 'spec', 'claimRef');
  return isMap(claim) ? `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}` : '';
}

function isBound(claim: JsonMap): boolean {
  return textAt(claim, 'spec', 'volumeName') !== '';
}

function describeSize(volume: JsonMap, part: 'spec' | 'status'): string {
  return canonicalQuantity(textAt(volume, part, 'capacity', 'storage') || '0');
}

function describeAccessModes(volume: JsonMap, part: 'spec' | 'status'): string {
  const modes = textsAt(volume, part, 'accessModes');
  return accessModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

function describeAudiences(driver: JsonMap): string {
  const requests = mapsAt(driver, 'spec', 'tokenRequests');
  return requests.length === 0 ? '<unset>' : requests.map((request) => textAt(request, 'audience')).join(',');
}

function isTrue(object: JsonMap, ...path: readonly string[]): boolean {
  return valueAt(object, ...path) === true;
}

function optionalText(object: JsonMap, ...path: readonly string[]): string | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'string' ? value : undefined;
}
