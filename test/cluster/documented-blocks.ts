// The commands of documents, as they are written there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/**
 * The first block of a shell, or of another language, below this heading of a document that begins with this command or line, without comments;
 * an error if there is none, so that a document that changes is noticed.
 */
export function documentedBlock(heading: string, begins: string, document = 'install.md', language = 'bash'): string {
  const text = readFileSync(join(root, 'docs', document), 'utf8');
  const section = text.split(/^#+ /mu).find((each) => each.startsWith(`${heading}\n`));
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gmsu');
  const blocks = [...(section ?? '').matchAll(fence)].map(([, block = '']) => block);
  const found = blocks.find((block) => block.startsWith(begins));
  if (found === undefined) throw new Error(`docs/${document} has no command "${begins}" below "${heading}"`);
  return found.replaceAll(/ +#.*$/gmu, '').trim();
}

/** The first line of a document that begins with this command, indented or not; an error if there is none. */
export function documentedLine(begins: string, document: string): string {
  const lines = readFileSync(join(root, 'docs', document), 'utf8').split('\n');
  const found = lines.map((line) => line.trim()).find((line) => line.startsWith(begins));
  if (found === undefined) throw new Error(`docs/${document} has no command "${begins}"`);
  return found;
}

/** The first line of a console in a document that begins with this command, without its prompt; an error if there is none. */
export function consoleCommand(begins: string, document: string): string {
  const lines = readFileSync(join(root, 'docs', document), 'utf8').split('\n');
  const found = lines.find((line) => line.startsWith(`$ ${begins}`));
  if (found === undefined) throw new Error(`docs/${document} has no command "${begins}"`);
  return found.replace(/ +#.*$/u, '').slice('$ '.length);
}
