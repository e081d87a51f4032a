/**
 * The fields of a JSON text that a strict decoding reports: unknown ones, and those that occur twice, in the order of the
 * text (upstream `sigs.k8s.io/json`, `UnmarshalStrict`).
 */
import { type MessageField, messageFields } from './message-table.ts';
import { isOpaqueType } from './wire-form.ts';

/** Upstream stops to collect after so many. */
const problemsMax = 100;
const strings = /"(?:[^"\\]|\\.)*"/y;
const scalars = /[^\s,\]}]+/y;
const spaces = /\s*/y;

type FieldType = Pick<MessageField, 'type' | 'rule' | 'keyType'>;

/** What a value is decoded into. `any`: each object has unique keys. `skipped`: nothing is reported. */
type Shape =
  | { readonly kind: 'message'; readonly fields: ReadonlyMap<string, FieldType> }
  | { readonly kind: 'map' | 'list'; readonly of: Shape }
  | { readonly kind: 'any' | 'skipped' };

const any: Shape = { kind: 'any' };
const skipped: Shape = { kind: 'skipped' };
/** The fields of every object, which the message of a kind does not have. */
const typeFields: readonly (readonly [string, FieldType])[] = [
  ['kind', { type: 'string' }],
  ['apiVersion', { type: 'string' }],
];

/**
 * `unknown field "a.b"` and `duplicate field "a.b"`, each once. The text must be valid JSON. Without a message, every field
 * is known. `fields` are known besides those of the message.
 */
export function findStrictProblems(text: string, message: string | undefined): readonly string[] {
  const fields = message === undefined ? undefined : messageFields(message);
  const shape: Shape = fields === undefined ? any : { kind: 'message', fields: new Map([...typeFields, ...fields]) };
  const reader = new StrictReader(text);
  reader.read(shape);
  return reader.problems;
}

/** Problems of the fields of a list of objects with these names, as a JSON patch is one. */
export function findListProblems(text: string, names: readonly string[]): readonly string[] {
  // Their values may be anything.
  const fields = new Map(names.map((name) => [name, { type: '' }] as const));
  const reader = new StrictReader(text);
  reader.read({ kind: 'list', of: { kind: 'message', fields } });
  return reader.problems;
}

class StrictReader {
  readonly #text: string;
  readonly #found = new Set<string>();
  readonly #steps: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get problems(): readonly string[] {
    return [...this.#found].slice(0, problemsMax);
  }

  read(shape: Shape): void {
    const next = this.#peek();
    if (next === '{') this.#object(shape);
    else if (next === '[') this.#list(shape);
    else this.#take(next === '"' ? strings : scalars);
  }

  #object(shape: Shape): void {
    const seen = new Set<string>();
    this.#at += 1;
    while (this.#peek() !== '}') {
      const key: unknown = JSON.parse(this.#take(strings));
      const name = String(key);
      this.#peek();
      this.#at += 1;
      const inner = innerShape(shape, name);
      if (inner === undefined) this.#report('unknown', name);
      else if (shape.kind !== 'skipped' && seen.has(name)) this.#report('duplicate', name);
      if (inner !== undefined) seen.add(name);
      this.#below(`.${name}`, inner ?? skipped);
      if (this.#peek() === ',') this.#at += 1;
    }
    this.#at += 1;
  }

  #list(shape: Shape): void {
    const inner = shape.kind === 'list' ? shape.of : shape.kind === 'any' ? any : skipped;
    this.#at += 1;
    for (let index = 0; this.#peek() !== ']'; index += 1) {
      this.#below(`[${index}]`, inner);
      if (this.#peek() === ',') this.#at += 1;
    }
    this.#at += 1;
  }

  #below(step: string, shape: Shape): void {
    this.#steps.push(step);
    this.read(shape);
    this.#steps.pop();
  }

  #report(type: 'unknown' | 'duplicate', name: string): void {
    const path = [...this.#steps, `.${name}`].join('').replace(/^\./, '');
    this.#found.add(`${type} field ${JSON.stringify(path)}`);
  }

  /** The next character that is no space. */
  #peek(): string {
    this.#take(spaces);
    return this.#text[this.#at] ?? '';
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }
}

/** Shape of the field; undefined for an unknown one. */
function innerShape(shape: Shape, name: string): Shape | undefined {
  if (shape.kind === 'map') return shape.of;
  if (shape.kind !== 'message') return shape.kind === 'list' ? skipped : shape;
  const field = shape.fields.get(name);
  if (field === undefined) return undefined;
  const one = shapeOfType(field.type);
  if (field.keyType !== undefined) return { kind: 'map', of: one };
  return field.rule === 'repeated' ? { kind: 'list', of: one } : one;
}

function shapeOfType(type: string): Shape {
  if (type === '') return any;
  const fields = isOpaqueType(type) ? undefined : messageFields(type);
  return fields === undefined ? skipped : { kind: 'message', fields };
}
