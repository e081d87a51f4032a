/** Whether a value conforms to a type (upstream `typed/validate.go`). */
import { stringifyExact } from '../codec/parse-exact-json.ts';
import { isMap } from '../../../machinery/api/json-map.ts';
import { elementOf, ListElementError } from './list-elements.ts';
import { describeElement, fieldElement, type PathElement } from './path-element.ts';
import { fieldType, formOf, type ListType, type MapType, type Scalar, type ValueType } from './value-type.ts';

/** The problems of a value, each as `.spec.field: what is wrong`. */
export function validateValue(type: ValueType, value: unknown): readonly string[] {
  return problemsOf(type, value).map(({ path, why }) => (path === '' ? why : `${path}: ${why}`));
}

interface Problem {
  readonly path: string;
  readonly why: string;
}

function problemsOf(type: ValueType, value: unknown): readonly Problem[] {
  if (value === null) return [];
  const form = formOf(type, value);
  if (form === 'list' && type.list !== undefined) return listProblems(type.list, value);
  if (form === 'map' && type.map !== undefined) return mapProblems(type.map, value);
  return type.scalar === undefined ? [] : scalarProblems(type.scalar, value);
}

const expected: Readonly<Record<Scalar, readonly [string, readonly string[]]>> = {
  numeric: ['numeric (int or float)', ['number', 'bigint']],
  string: ['string', ['string']],
  boolean: ['boolean', ['boolean']],
  untyped: ['any scalar', ['number', 'bigint', 'string', 'boolean']],
};

function scalarProblems(scalar: Scalar, value: unknown): readonly Problem[] {
  const [name, types] = expected[scalar];
  if (types.includes(typeof value)) return [];
  return problem(`expected ${name}, got ${describe(scalar, value)}`);
}

function mapProblems(map: MapType, value: unknown): readonly Problem[] {
  if (!isMap(value)) return problem(`expected map, got ${goValue(value)}`);
  return Object.entries(value).flatMap(([name, part]) => {
    const element = fieldElement(name);
    const type = fieldType(map, name);
    return below(element, type === undefined ? problem('field not declared in schema') : problemsOf(type, part));
  });
}

function listProblems(list: ListType, value: unknown): readonly Problem[] {
  if (!Array.isArray(value)) return problem(`expected list, got ${goValue(value)}`);
  const seen = new Set<PathElement>();
  const problems: Problem[] = [];
  for (const [index, item] of value.entries()) {
    try {
      const element = list.kind === 'atomic' ? `i:${index}` : elementOf(list, item);
      if (seen.has(element)) problems.push(...problem(`duplicate entries for key ${describeElement(element)}`));
      seen.add(element);
      problems.push(...below(element, problemsOf(list.element(), item)));
    } catch (error) {
      if (!(error instanceof ListElementError)) throw error;
      return [...problems, ...problem(`element ${index}: ${error.message}`)];
    }
  }
  return problems;
}

function problem(why: string): readonly Problem[] {
  return [{ path: '', why }];
}

function below(element: PathElement, problems: readonly Problem[]): readonly Problem[] {
  if (problems.length === 0) return problems;
  const step = describeElement(element);
  return problems.map(({ path, why }) => ({ path: step + path, why }));
}

/** Go prints the value in another way for each type. */
function describe(scalar: Scalar, value: unknown): string {
  if (scalar === 'numeric') return goType(value);
  return scalar === 'string' ? `&value.valueUnstructured{Value:${goText(value)}}` : goValue(value);
}

/** The values that Go's messages show for values of the wrong type. */
function goValue(value: unknown): string {
  return `&{${goText(value)}}`;
}

function goText(value: unknown): string {
  return isMap(value) || Array.isArray(value) ? stringifyExact(value) : String(value);
}

function goType(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  if (Array.isArray(value)) return '[]interface {}';
  return isMap(value) ? 'map[string]interface {}' : typeof value;
}
