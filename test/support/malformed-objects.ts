// Objects that no API server should send: well-formed ones with some fields replaced.
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { SeededRandom } from './fakes.ts';

type Json = unknown;
type Path = readonly (string | number)[];

const junk: readonly Json[] = [
  undefined,
  null,
  7,
  -1,
  1.5,
  true,
  '',
  'yesterday',
  'Perhaps',
  '9999-99-99T99:99:99Z',
  '+275760-09-13T00:00:00Z',
  '0000-00-00T00:00:00Z',
  '1970-01-01T00:00:00Z',
  '2999-12-31T23:59:59Z',
  [],
  [null],
  [7, 'x', {}],
  {},
  { a: 7, b: null },
  [[{ key: 'x' }]],
];

/** Every field path of the object, at any depth. */
function pathsOf(value: Json, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([name, part]) => pathsOf(part, [...path, name]));
  return path.length === 0 ? inner : [path, ...inner];
}

function replaced(value: Json, [name, ...rest]: Path, by: Json): Json {
  if (name === undefined) return by;
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, Json> | Json[] = Array.isArray(value) ? [...(value as Json[])] : { ...value };
  const place = name as keyof typeof copy;
  copy[place] = replaced(copy[place], rest, by) as never;
  return copy;
}

/** The same seed gives the same object: `from` with one to four fields replaced. */
export function malformed<T extends KubeObject>(from: T, seed: number): T {
  const random = new SeededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)] as Item;
  const paths = pathsOf(from).filter((path) => path.join('.') !== 'metadata.name' || random.next() < 0.1);
  let object: Json = from;
  for (let left = 1 + Math.floor(random.next() * 4); left > 0; left -= 1)
    object = replaced(object, pick(paths), pick(junk));
  return object as T;
}
