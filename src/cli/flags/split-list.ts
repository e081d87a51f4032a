/** The entries of a comma-separated list. */
export function splitList(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
