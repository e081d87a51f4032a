// The commands of docs/install.md, as they are written there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/**
 * The first block of a shell below this heading of docs/install.md that begins with this command, without comments; an error if there is
 * none, so that a document that changes is noticed.
 */
export function installCommand(heading: string, begins: string): string {
  const text = readFileSync(join(root, 'docs', 'install.md'), 'utf8');
  const section = text.split(/^#+ /mu).find((each) => each.startsWith(`${heading}\n`));
  const blocks = [...(section ?? '').matchAll(/^```bash\n(.*?)^```$/gmsu)].map(([, block = '']) => block);
  const found = blocks.find((block) => block.startsWith(begins));
  if (found === undefined) throw new Error(`docs/install.md has no command "${begins}" below "${heading}"`);
  return found.replaceAll(/ +#.*$/gmu, '').trim();
}
