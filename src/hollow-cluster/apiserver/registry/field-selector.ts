/** Field selectors: `spec.nodeName=n1,status.phase!=Failed` (upstream `fields.ParseSelector`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { badRequest } from '../api-errors/api-errors.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** A term ends at a comma without a preceding backslash. */
const termPattern = /(?:\\.|[^,\\])+|\\$/gsu;
const operatorPattern = /^(.*?)(==|!=|=)(.*)$/su;

/** Throws a 400 ApiError for an invalid selector. Empty text, and empty terms, select everything. */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  return (text.match(termPattern) ?? []).map(parseTerm);
}

export function matchesFields(
  requirements: readonly FieldRequirement[],
  fields: Readonly<Record<string, string>>,
): boolean {
  return requirements.every(({ field, equal, value }) => ((ownValue(fields, field) ?? '') === value) === equal);
}

function parseTerm(term: string): FieldRequirement {
  const [, field, operator, value] = operatorPattern.exec(term) ?? [];
  if (field === undefined || value === undefined) {
    throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  }
  return { field, equal: operator !== '!=', value: unescape(value) };
}

function unescape(value: string): string {
  return value.replace(/\\(.?)|=/gsu, (whole, escaped: string | undefined) => {
    if (escaped === '\\' || escaped === ',' || escaped === '=') return escaped;
    throw badRequest(`invalid field selector: unexpected ${whole} in value ${value}`);
  });
}
