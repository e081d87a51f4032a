import type { FlagDefinition } from './flag-definition.ts';

interface Operand {
  /** Undefined: there is none. */
  readonly operand: string | undefined;
  readonly others: readonly string[];
}

/** Splits the first argument that is neither a flag nor a flag's value from the others. */
export function takeOperand(argv: readonly string[], table: readonly FlagDefinition[]): Operand {
  const place = argv.findIndex((word, index) => !word.startsWith('-') && !expectsValue(argv[index - 1] ?? '', table));
  return place < 0 ? { operand: undefined, others: argv } : { operand: argv[place], others: argv.toSpliced(place, 1) };
}

/** Whether the next argument is the value of this one: a flag without `=` that is not a boolean. */
function expectsValue(word: string, table: readonly FlagDefinition[]): boolean {
  if (word.startsWith('--')) {
    if (word === '--' || word.includes('=')) return false;
    return table.find(({ name }) => `--${name}` === word)?.kind !== 'boolean';
  }
  const flag = table.find(({ short }) => short !== undefined && `-${short}` === word);
  return flag !== undefined && flag.kind !== 'boolean';
}

/** Splits the values of a flag that may be repeated, `--NAME=VALUE` or `--NAME VALUE`, from all other arguments. */
export function takeRepeatedFlag(
  argv: readonly string[],
  name: string,
): { readonly values: readonly string[]; readonly others: readonly string[] } {
  const values: string[] = [];
  const others: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const next = argv[index + 1];
    if (word.startsWith(`--${name}=`)) values.push(word.slice(name.length + 3));
    else if (word === `--${name}` && next !== undefined) {
      values.push(next);
      index += 1;
    } else others.push(word);
  }
  return { values, others };
}
