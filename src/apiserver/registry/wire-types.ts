/** The message table as the wire form reads it: of which JSON type a field is and whether its zero value is written. */
import { type MessageField, messageFields, messageNameOf } from '../codec/message-table.ts';

export type WireKind =
  | 'string'
  | 'bool'
  | 'integer'
  | 'time'
  | 'micro-time'
  | 'quantity'
  | 'int-or-string'
  | 'any'
  | 'message';

export interface WireField {
  readonly kind: WireKind;
  readonly shape: 'one' | 'list' | 'map';
  /** `always`: a zero is written; `nonzero`: it is left out; `present`: whatever was sent is kept. */
  readonly keep: 'always' | 'nonzero' | 'present';
  /** Full name of the message, for {@link wireFieldsOf}. */
  readonly message: string;
}

export type WireFields = ReadonlyMap<string, WireField>;

const kinds: Readonly<Record<string, WireKind>> = {
  string: 'string',
  bool: 'bool',
  int32: 'integer',
  int64: 'integer',
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time': 'time',
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime': 'micro-time',
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1': 'any',
  'k8s.io.apimachinery.pkg.runtime.RawExtension': 'any',
  'k8s.io.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': 'int-or-string',
};

const known = new Map<string, WireFields>();

/** The message that a kind of a group version is. Throws a RangeError for a kind that is not served. */
export function wireMessageOf(apiVersion: string, kind: string): string {
  const message = messageNameOf(apiVersion, kind);
  if (message === undefined) throw new RangeError(`no message is known for ${kind} of ${apiVersion}`);
  return message;
}

/** The fields of a message by JSON name; undefined where the table does not know it. */
export function wireFieldsOf(message: string): WireFields | undefined {
  const found = known.get(message);
  if (found !== undefined) return found;
  const raw = messageFields(message);
  if (raw === undefined) return undefined;
  const fields = new Map([...raw].map(([name, field]) => [name, describe(field)] as const));
  known.set(message, fields);
  return fields;
}

function describe(field: MessageField): WireField {
  return { kind: kinds[field.type] ?? 'message', shape: shapeOf(field), keep: keepOf(field), message: field.type };
}

function shapeOf(field: MessageField): WireField['shape'] {
  if (field.keyType !== undefined) return 'map';
  return field.rule === 'repeated' ? 'list' : 'one';
}

function keepOf(field: MessageField): WireField['keep'] {
  const keep = field.options?.keep;
  return keep === 'always' || keep === 'present' ? keep : 'nonzero';
}
