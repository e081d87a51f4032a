// Reads the configuration of the image from the Containerfile, so that both ways to build it give the same.

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** Names as in the OCI image configuration. */
export interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Labels: Readonly<Record<string, string>>;
}

export function parseInstructions(text: string): readonly Instruction[] {
  const joined = text.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '');
  const lines = joined.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => ({ name: line.split(' ', 1)[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }));
}

/** The instructions after the last FROM, and that FROM. */
export function finalStageOf(instructions: readonly Instruction[]): readonly Instruction[] {
  return instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
}

/** What the final stage sets on its base; throws if an instruction is missing. */
export function parseImageConfig(containerfile: string): ImageConfig {
  const stage = finalStageOf(parseInstructions(containerfile));
  const all = (name: string): readonly string[] => stage.filter((one) => one.name === name).map(({ rest }) => rest);
  const only = (name: string): string => {
    const [value, ...others] = all(name);
    if (value === undefined || others.length > 0)
      throw new Error(`Containerfile: the final stage must have one ${name}`);
    return value;
  };
  return {
    User: only('USER'),
    WorkingDir: only('WORKDIR'),
    Env: all('ENV'),
    Entrypoint: JSON.parse(only('ENTRYPOINT')) as readonly string[],
    Cmd: JSON.parse(only('CMD')) as readonly string[],
    ExposedPorts: Object.fromEntries(
      only('EXPOSE')
        .split(' ')
        .map((port) => [`${port}/tcp`, {}]),
    ),
    Labels: Object.fromEntries(all('LABEL').flatMap(parseLabels)),
  };
}

function parseLabels(rest: string): readonly (readonly [string, string])[] {
  return [...rest.matchAll(/([\w.-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value] as const);
}
