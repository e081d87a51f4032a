/** Value types of the built-in kinds, from the descriptor of their messages. */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { messageFields, type MessageField, messageNameOf } from '../codec/message-table.ts';
import listTypes from './list-types.json' with { type: 'json' };
import { anyValue, type ListType, type MapType, type Scalar, type ValueType } from './value-type.ts';

const core = 'k8s.io.api.core.v1';
const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** Scalars: types whose JSON form is a single value, and those of protobuf. */
const scalars: Readonly<Record<string, Scalar>> = {
  string: 'string',
  bytes: 'string',
  bool: 'boolean',
  int32: 'numeric',
  int64: 'numeric',
  double: 'numeric',
  [`${meta}.Time`]: 'untyped',
  [`${meta}.MicroTime`]: 'untyped',
  'k8s.io.apimachinery.pkg.api.resource.Quantity': 'untyped',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': 'untyped',
};
/**
 * How lists and maps are merged, by message and field (the markers `+listType` and `+mapType` of the Go types): the keys of a
 * list, `set`, or `atomic` for a map. The empty field is the message itself. Lists without an entry are atomic.
 */
const merging: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>> = listTypes;

const zeros: Readonly<Record<string, unknown>> = { string: '', int32: 0, int64: 0, bool: false };

/** Any JSON. */
const untyped: ReadonlySet<string> = new Set([`${meta}.FieldsV1`, 'k8s.io.apimachinery.pkg.runtime.RawExtension']);

/** Defaults of fields that identify list elements and may be left out. */
const keyDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  [`${core}.ContainerPort`]: { protocol: 'TCP' },
  [`${core}.LocalObjectReference`]: { name: '' },
  [`${core}.ServicePort`]: { protocol: 'TCP' },
};

/** Lists without `omitempty` in Go, which are null when they are empty. */
const nullable: Readonly<Record<string, readonly string[]>> = {
  [`${core}.PodSpec`]: ['containers'],
  [`${core}.NodeSelector`]: ['nodeSelectorTerms'],
  [`${core}.ProjectedVolumeSource`]: ['sources'],
  [`${core}.LimitRangeSpec`]: ['limits'],
  'k8s.io.api.batch.v1.PodFailurePolicy': ['rules'],
  'k8s.io.api.batch.v1.SuccessPolicy': ['rules'],
  'k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerStatus': ['currentMetrics'],
  'k8s.io.api.rbac.v1.PolicyRule': ['verbs'],
  'k8s.io.api.rbac.v1.Role': ['rules'],
  'k8s.io.api.rbac.v1.ClusterRole': ['rules'],
  'k8s.io.api.discovery.v1.EndpointSlice': ['endpoints', 'ports'],
  'k8s.io.api.discovery.v1.Endpoint': ['addresses'],
  'k8s.io.api.networking.v1.HTTPIngressRuleValue': ['paths'],
  'k8s.io.api.storage.v1.CSINodeSpec': ['drivers'],
  'k8s.io.api.storage.v1.CSINodeDriver': ['topologyKeys'],
};

const known = new Map<string, ValueType>();

/** The type of a kind; undefined if the descriptor does not have it. */
export function typeOfKind(apiVersion: string, kind: string): ValueType | undefined {
  const name = messageNameOf(apiVersion, kind);
  return name === undefined ? undefined : typeOfMessage(name);
}

/** The metadata of every object. */
export function metadataType(): ValueType {
  return typeOfMessage(`${meta}.ObjectMeta`);
}

function typeOfMessage(name: string, asOne = false): ValueType {
  const atomic = asOne || ownValue(merging, name)?.[''] === 'atomic';
  const id = atomic ? `${name} atomic` : name;
  const cached = known.get(id);
  if (cached !== undefined) return cached;
  const type = buildType(name, atomic);
  known.set(id, type);
  return type;
}

function buildType(name: string, atomic: boolean): ValueType {
  const scalar = ownValue(scalars, name);
  if (scalar !== undefined) return { scalar };
  const fields = messageFields(name);
  if (fields === undefined || untyped.has(name)) return anyValue;
  const types = new Map<string, ValueType>();
  // On demand: messages contain themselves.
  const build = (field: string): ValueType | undefined => {
    const about = fields.get(field);
    if (about === undefined) return undefined;
    const type = typeOfField(about, ownValue(ownValue(merging, name), field));
    types.set(field, type);
    return type;
  };
  const map: MapType = {
    atomic,
    field: (field) => types.get(field) ?? build(field),
    element: undefined,
    nullable: ownValue(nullable, name) ?? [],
  };
  return { map };
}

function typeOfField(field: MessageField, merged: string | readonly string[] = ''): ValueType {
  const atomic = merged === 'atomic';
  if (field.keyType !== undefined) return { map: entriesOf(field.type, atomic) };
  if (field.rule === 'repeated') return { list: listOf(field.type, merged) };
  return typeOfMessage(field.type, atomic);
}

function entriesOf(type: string, atomic: boolean): MapType {
  return { atomic, field: () => undefined, element: () => typeOfMessage(type), nullable: [] };
}

function listOf(type: string, merged: string | readonly string[]): ListType {
  const keys = typeof merged === 'string' ? [] : merged;
  const kind = keys.length > 0 ? 'map' : merged === 'set' ? 'set' : 'atomic';
  const defaults = Object.fromEntries(keys.flatMap((key) => defaultOfKey(type, key)));
  return { kind, keys, keyDefaults: defaults, element: () => typeOfMessage(type) };
}

function defaultOfKey(message: string, key: string): readonly (readonly [string, unknown])[] {
  const field = messageFields(message)?.get(key);
  const value =
    ownValue(ownValue(keyDefaults, message), key) ??
    (field?.options?.keep === 'always' ? ownValue(zeros, field.type) : undefined);
  return value === undefined ? [] : [[key, value]];
}
