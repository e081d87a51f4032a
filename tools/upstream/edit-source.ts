// Edits of the copied tests of Kubernetes, as data: what is replaced, by what, and why.

interface Edit {
  /** Why the test is edited, for readers. */
  readonly why: string;
  readonly find: RegExp;
  readonly replace: string;
}

/** A folder of tests that is copied into the build folder and edited there. */
export interface CopiedTests {
  /** Folder in k8s.io/kubernetes. */
  readonly folder: string;
  /** File name of its test binary. */
  readonly binary: string;
  readonly edits: readonly Edit[];
}

const moduleName = 'node-lifecycle-controller/test/upstream';

const connection: Edit = {
  why: 'the process needs the address and the credentials of the API server of the test',
  find: /testutils\.InitTestAPIServer\((.*)\)$/gm,
  replace: 'process.WithKubeConfig(testutils.InitTestAPIServer($1))',
};

/** Each folder of Kubernetes' integration tests that starts the node lifecycle, taint eviction or pod GC controller. */
export const copiedTests: readonly CopiedTests[] = [
  {
    folder: 'test/integration/node',
    binary: 'integration-node.test',
    edits: [replaced('nodelifecycle', true), replaced('tainteviction'), connection],
  },
  {
    folder: 'test/integration/podgc',
    binary: 'integration-podgc.test',
    edits: [
      replaced('podgc', true),
      connection,
      {
        why: 'the test sets a period of 0.5 s and a quarantine of 1 s; those of the process are 20 s and 40 s, and no flag changes them',
        find: /time\.Second\s?\*\s?15\b/g,
        replace: 'time.Second*90',
      },
    ],
  },
  {
    folder: 'test/integration/scheduler/taint',
    binary: 'integration-scheduler-taint.test',
    edits: [replaced('nodelifecycle', true), connection],
  },
];

/**
 * Applies the edits to the text of one file. `used` collects the edits that changed something: an edit that matches in no
 * file of its folder means that the tests have changed.
 */
export function editSource(text: string, edits: readonly Edit[], used: Set<Edit>): string {
  return edits.reduce((edited, edit) => {
    const next = edited.replace(edit.find, edit.replace);
    if (next !== edited) used.add(edit);
    return next;
  }, text);
}

/** A controller of the test's process is replaced by a package with the same constructor that starts `nlc controller`. */
function replaced(controller: string, withProcess = false): Edit {
  const imports = withProcess ? [controller, 'process'] : [controller];
  return {
    why: `${controller} runs as a process of nlc controller`,
    find: new RegExp(`^\\t"k8s\\.io/kubernetes/pkg/controller/${controller}"$`, 'gm'),
    replace: imports.map((name) => `\t"${moduleName}/replacements/${name}"`).join('\n'),
  };
}
