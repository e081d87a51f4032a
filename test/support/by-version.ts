// Expectations that depend on the Kubernetes version under test (`npm run test:control-plane -- --kubernetes VERSION`).
import {
  type KubernetesVersion,
  kubernetesVersions,
  selectedVersion,
} from '../../tools/control-plane/kubernetes-version.ts';

/** What is expected from which version on; the oldest version has a row. */
type Rows<T> = Readonly<Partial<Record<KubernetesVersion, T>> & Record<'1.34', T>>;

/** The row of the version under test: that of the newest version that is not newer. The embedded server has the newest row. */
export function byVersion<T>(rows: Rows<T>, version: KubernetesVersion = selectedVersion()): T {
  const upTo = kubernetesVersions.slice(0, kubernetesVersions.indexOf(version) + 1);
  const from = upTo.findLast((each) => each in rows) ?? '1.34';
  return rows[from] as T;
}
