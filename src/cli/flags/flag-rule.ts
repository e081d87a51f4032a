/** A constraint between flags, or a warning. Evaluated only if each of its keys is valid by itself. */
export interface FlagRule<Values> {
  readonly keys: readonly (keyof Values)[];
  isViolated(values: Values): boolean;
  text(values: Values): string;
}

/** The texts of the violated rules. Those on invalid keys are skipped, because their values are defaults here. */
export function violations<Values>(
  rules: readonly FlagRule<Values>[],
  values: Values,
  invalid: ReadonlySet<unknown>,
): readonly string[] {
  const applicable = rules.filter(({ keys }) => !keys.some((key) => invalid.has(key)));
  return applicable.filter((rule) => rule.isViolated(values)).map((rule) => rule.text(values));
}
