import type { FlagDefinition } from '../flags/flag-definition.ts';
import type { CommandModule } from '../io/command-io.ts';

/** Kind of the argument of a command, for shell completion. */
type OperandKind = 'subject' | 'file' | 'shell';

/** One command of `nlc help`. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** The required argument, as the usage line shows it. */
  readonly operand?: string;
  /** Absent: shells complete no argument. */
  readonly completes?: OperandKind;
  /** Imports the command and its dependencies. Called only when the command runs, because the import is slow. */
  load(): Promise<CommandModule>;
  /** Imports the flags only, so that help is fast. */
  loadFlags(): Promise<readonly FlagDefinition[]>;
}

/** A command that has commands. */
export interface CommandGroup extends Omit<CommandEntry, 'load' | 'completes'> {
  readonly group: true;
  loadCatalog(): Promise<Catalog>;
}

/** The commands of a program. */
export interface Catalog {
  /** Name as users type it, for messages. */
  readonly program: string;
  readonly title: string;
  readonly commands: readonly (CommandEntry | CommandGroup)[];
  /** Flags of all commands; they may stand before the command. */
  readonly sharedFlags?: readonly FlagDefinition[];
}

export function isGroup(entry: CommandEntry | CommandGroup): entry is CommandGroup {
  return 'group' in entry;
}

export function findCommand(name: string, { commands }: Catalog): CommandEntry | CommandGroup | undefined {
  return commands.find((entry) => entry.name === name);
}
