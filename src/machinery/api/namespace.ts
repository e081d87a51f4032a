import type { KubeObject } from './meta.ts';

/** What the controller caches of a Namespace: that it was selected. */
export interface NamespaceView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Transforms a Namespace while it is decoded. Never throws. */
export function transformNamespace({ metadata }: KubeObject): NamespaceView {
  const { name = '', uid = '', resourceVersion = '' } = metadata;
  return { name, uid, resourceVersion };
}
