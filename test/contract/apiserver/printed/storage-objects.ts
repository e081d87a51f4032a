// Volumes, claims and objects of storage.k8s.io.
import { anObject, type PrintedObject } from './printed-object.ts';

const volumes = '/api/v1/persistentvolumes';
const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const storage = '/apis/storage.k8s.io/v1';
const classes = `${storage}/storageclasses`;
const attachments = `${storage}/volumeattachments`;
const drivers = `${storage}/csidrivers`;
const capacities = `${storage}/namespaces/default/csistoragecapacities`;
const oldClass = { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } };
const csi = { driver: 'csi.example.com', volumeHandle: 'h' };
const requests = { storage: '2048Mi' };

const volumeObjects: readonly PrintedObject[] = [
  anObject(volumes, 'few', {
    spec: { capacity: { storage: '1024Mi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' } },
  }),
  anObject(
    volumes,
    'many',
    {
      spec: {
        capacity: { storage: '1.5Ti' },
        accessModes: ['ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 'fast',
        volumeAttributesClassName: 'gold',
        volumeMode: 'Block',
        claimRef: { namespace: 'default', name: 'bound' },
        csi,
      },
    },
    { status: { phase: 'Failed', reason: 'Lost', message: 'x' } },
  ),
  anObject(
    volumes,
    'leaves',
    { spec: { capacity: { storage: '5G' }, accessModes: ['ReadWriteOncePod'], csi: { ...csi, volumeHandle: 'i' } } },
    { deleted: true, metadata: oldClass },
  ),
  anObject(claims, 'few', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests } } }),
  anObject(
    claims,
    'bound',
    {
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests },
        storageClassName: 'fast',
        volumeAttributesClassName: 'gold',
        volumeName: 'many',
        volumeMode: 'Block',
      },
    },
    {
      status: {
        phase: 'Bound',
        accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
        capacity: { storage: '1536Gi' },
      },
    },
  ),
  anObject(claims, 'unbound', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests }, storageClassName: '', volumeName: 'x' },
  }),
  anObject(
    claims,
    'leaves',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests } } },
    { deleted: true, metadata: oldClass },
  ),
];

const classObjects: readonly PrintedObject[] = [
  anObject(classes, 'few', { provisioner: 'example.com/p' }),
  anObject(
    classes,
    'many',
    {
      provisioner: 'example.com/q',
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    },
    { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } },
  ),
  anObject(
    classes,
    'old-default',
    { provisioner: 'example.com/r', allowVolumeExpansion: false },
    { metadata: { annotations: { 'storageclass.beta.kubernetes.io/is-default-class': 'true' } } },
  ),
  anObject(`${storage}/volumeattributesclasses`, 'gold', { driverName: 'csi.example.com', parameters: { a: '1' } }),
];

const attacherObjects: readonly PrintedObject[] = [
  anObject(attachments, 'few', {
    spec: { attacher: 'csi.example.com', nodeName: 'worker', source: { persistentVolumeName: 'many' } },
  }),
  anObject(
    attachments,
    'attached',
    {
      spec: {
        attacher: 'csi.example.com',
        nodeName: 'silent',
        source: {
          inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi },
        },
      },
    },
    { status: { attached: true } },
  ),
  anObject(`${storage}/csinodes`, 'worker', { spec: { drivers: [] } }),
  anObject(`${storage}/csinodes`, 'silent', {
    spec: { drivers: ['a.example.com', 'b.example.com'].map((name) => ({ name, nodeID: 'n' })) },
  }),
  anObject(drivers, 'few.example.com', { spec: {} }),
  anObject(drivers, 'many.example.com', {
    spec: {
      attachRequired: false,
      podInfoOnMount: true,
      storageCapacity: true,
      requiresRepublish: true,
      tokenRequests: [{ audience: 'a' }, { audience: '', expirationSeconds: 3600 }],
      volumeLifecycleModes: ['Persistent', 'Ephemeral'],
    },
  }),
  anObject(capacities, 'few', { storageClassName: 'fast' }),
  anObject(capacities, 'many', { storageClassName: 'fast', capacity: '1024Gi', nodeTopology: {} }),
];

export const storageObjects: readonly PrintedObject[] = [...volumeObjects, ...classObjects, ...attacherObjects];
