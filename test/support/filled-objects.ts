/** Objects of every built-in kind with every field of the descriptor set, deterministic, for tests of encodings. */
import { messageFields, messageNameOf } from '../../src/hollow-cluster/apiserver/codec/message-table.ts';
import { apiVersionOf, type GroupVersionKind, servedResources } from '../../src/hollow-cluster/apiserver/resources.ts';

interface FilledObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** `zeros`: a pointer is set to the zero value, what is no pointer is missing, lists and maps have one item. */
type Filling = (typeof fillings)[number];

const fillings = ['values', 'zeros'] as const;

type Fields = NonNullable<ReturnType<typeof messageFields>>;
type Field = Fields extends ReadonlyMap<string, infer F> ? F : never;

const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const listTypes = new Set([
  `${meta}.Verbs`,
  'k8s.io.api.authentication.v1.ExtraValue',
  'k8s.io.api.authorization.v1.ExtraValue',
  'k8s.io.api.certificates.v1.ExtraValue',
]);

/** By type; the argument differs from field to field. */
const values: Readonly<Record<string, (salt: number) => unknown>> = {
  string: (salt) => (salt % 5 === 0 ? `tëxt-${salt}-準備完了 🚀` : `text-${salt}`),
  bool: () => true,
  int32: (salt) => (salt % 3 === 0 ? -salt : salt * 10_007),
  int64: (salt) => (salt % 3 === 0 ? -salt - 1 : salt * 100_000_000_007),
  bytes: (salt) => Buffer.from([0xff, 0x00, salt % 256]).toString('base64'),
  [`${meta}.Time`]: (salt) =>
    salt % 4 === 0 ? '1969-12-31T23:59:58Z' : `2026-11-21T06:42:${String(salt % 60).padStart(2, '0')}Z`,
  [`${meta}.MicroTime`]: (salt) => `2026-11-21T06:42:20.${String((salt * 7_919) % 1_000_000).padStart(6, '0')}Z`,
  [`${meta}.FieldsV1`]: (salt) => ({ 'f:metadata': { [`f:label-${salt}`]: {} } }),
  'k8s.io.apimachinery.pkg.runtime.RawExtension': (salt) => ({ text: `<${salt}>`, list: [1, null, 'ü'] }),
  'k8s.io.apimachinery.pkg.api.resource.Quantity': (salt) => `${salt}m`,
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': (salt) => (salt % 2 === 0 ? salt : `${salt}%`),
};
const zeros: Readonly<Record<string, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  [`${meta}.Time`]: '1970-01-01T00:00:00Z',
  [`${meta}.MicroTime`]: '1970-01-01T00:00:00.000000Z',
  [`${meta}.FieldsV1`]: {},
  'k8s.io.apimachinery.pkg.runtime.RawExtension': {},
  'k8s.io.apimachinery.pkg.api.resource.Quantity': '0',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': 0,
};

/** Every kind of a request or a response body. */
function builtInKinds(): readonly GroupVersionKind[] {
  const all = [
    ...servedResources.flatMap((served) => [served, ...served.subresources.map(({ responseKind }) => responseKind)]),
    { group: '', version: 'v1', kind: 'DeleteOptions' },
  ];
  const byName = new Map(
    all.map(({ group, version, kind }) => [`${group}/${version}/${kind}`, { group, version, kind }]),
  );
  return [...byName.values()];
}

function fillObject(of: GroupVersionKind, filling: Filling): FilledObject {
  const apiVersion = apiVersionOf(of);
  const message = messageNameOf(apiVersion, of.kind);
  if (message === undefined) throw new Error(`${apiVersion} ${of.kind} has no message`);
  return { apiVersion, kind: of.kind, ...new Filler(filling).message(message) };
}

/** By kind and filling, as `v1 Pod, zeros`. */
export function filledObjects(): Readonly<Record<string, FilledObject>> {
  const all = builtInKinds().flatMap((kind) =>
    fillings.map((filling) => ({ filling, object: fillObject(kind, filling) })),
  );
  return Object.fromEntries(
    all.map(({ filling, object }) => [`${object.apiVersion} ${object.kind}, ${filling}`, object] as const),
  );
}

class Filler {
  readonly #filling: Filling;
  #salt = 0;
  /** Names of the messages around the current one: some contain themselves. */
  readonly #around: string[] = [];

  constructor(filling: Filling) {
    this.#filling = filling;
  }

  message(name: string): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#around.push(name);
    for (const [field, type] of messageFields(name) ?? []) {
      const value = this.#around.includes(type.type) ? undefined : this.#field(type);
      if (value !== undefined) object[field] = value;
    }
    this.#around.pop();
    return object;
  }

  #field(field: Field): unknown {
    if (field.keyType !== undefined) return this.#map(field.type);
    if (field.rule === 'repeated') return [this.#value(field.type), this.#value(field.type)];
    const isPointer = field.options?.keep === 'present';
    if (this.#filling === 'zeros' && !isPointer && field.type in zeros) return undefined;
    if (this.#filling === 'zeros' && field.type === 'bytes') return undefined;
    return this.#value(field.type);
  }

  /** Keys are not in their order. */
  #map(type: string): unknown {
    return { 'example.com/z': this.#value(type), a: this.#value(type), 'example.com/B': this.#value(type) };
  }

  #value(type: string): unknown {
    this.#salt += 1;
    if (listTypes.has(type)) return [`item-${this.#salt}`, ''];
    if (this.#filling === 'zeros' && type in zeros) return zeros[type];
    return type in values ? values[type]?.(this.#salt) : this.message(type);
  }
}
