// The Kubernetes releases whose control plane can be built for tests, and which of them is selected: with `--kubernetes` on the
// command line, and in child processes with an environment variable.

export const kubernetesVersions = ['1.34', '1.35', '1.36', '1.37'] as const;
export type KubernetesVersion = (typeof kubernetesVersions)[number];

/** The version of CI, and of all recorded objects. */
export const defaultVersion: KubernetesVersion = '1.37';

const flag = '--kubernetes';
/** Set by {@link selectVersion}, so that test processes find the same programs. */
const variable = 'NLC_CONTROL_PLANE_KUBERNETES';

type Environment = Record<string, string | undefined>;

/** A usage error; the message names the value and the accepted ones. */
export class UnknownVersion extends Error {}

interface Arguments {
  /** Undefined without `--kubernetes`. */
  readonly version: KubernetesVersion | undefined;
  /** All other arguments, in order. */
  readonly others: readonly string[];
}

/** Splits `--kubernetes VERSION` or `--kubernetes=VERSION` from the other arguments. Throws {@link UnknownVersion}. */
export function splitArguments(args: readonly string[]): Arguments {
  const at = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  if (at === -1) return { version: undefined, others: args };
  const inline = args[at]?.startsWith(`${flag}=`) === true;
  const value = inline ? args[at]?.slice(flag.length + 1) : args[at + 1];
  const others = [...args.slice(0, at), ...args.slice(at + (inline ? 1 : 2))];
  if (splitArguments(others).version !== undefined) throw new UnknownVersion(`${flag}: must be given once`);
  return { version: parseVersion(value, flag), others };
}

/** Selects a version for this process and the processes that it starts. */
export function selectVersion(version: KubernetesVersion, env: Environment = process.env): void {
  env[variable] = version;
}

/** The version selected for this process; {@link defaultVersion} if none is. Throws {@link UnknownVersion}. */
export function selectedVersion(env: Environment = process.env): KubernetesVersion {
  const value = env[variable];
  return value === undefined ? defaultVersion : parseVersion(value, variable);
}

function parseVersion(value: string | undefined, field: string): KubernetesVersion {
  const known = kubernetesVersions.find((version) => version === value);
  if (known !== undefined) return known;
  throw new UnknownVersion(`${field}: must be one of ${kubernetesVersions.join(', ')} (got ${value ?? 'nothing'})`);
}
