/**
 * Merge rules of strategic merge patch: the merged lists and their merge keys, by the `patchStrategy` and `patchMergeKey` tags
 * of the API types. Other lists are replaced as a whole, in particular taints and tolerations, which have no merge key.
 */
import { messageFields, messageNameOf } from '../codec/message-table.ts';

export interface MergeRule {
  /** A list of objects: elements with the same value in this field are the same element. */
  readonly mergeKey?: string | undefined;
  /** A list of scalars with set semantics. */
  readonly scalarSet?: boolean;
  /** An object that is replaced as a whole. */
  readonly replaced?: boolean;
  /** Nested rules: for the fields of an object, or of the elements of a list. */
  readonly fields: MergeRules;
}

/** The rule of a field, by its name. */
export type MergeRules = (field: string) => MergeRule;

const noRules: MergeRules = () => ({ fields: noRules });

/** The top-level rules of a kind. */
export function mergeRulesOf(apiVersion: string, kind: string): MergeRules {
  return rulesOfMessage(messageNameOf(apiVersion, kind) ?? '');
}

/** None for a scalar. */
function rulesOfMessage(message: string): MergeRules {
  const declared = messageFields(message);
  if (declared === undefined) return noRules;
  return (name) => {
    const field = declared.get(name);
    if (field === undefined) return { fields: noRules };
    const { patchStrategy = '', mergeKey } = field.options ?? {};
    const strategies = patchStrategy.split(',');
    return {
      mergeKey,
      scalarSet: strategies.includes('merge') && mergeKey === undefined,
      replaced: strategies.includes('replace'),
      fields: rulesOfMessage(field.type),
    };
  };
}
