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
