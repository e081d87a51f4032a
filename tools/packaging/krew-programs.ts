// krew and its validator of manifests. Its dependencies are old, so it has a module of its own.
import { join } from 'node:path';
import { findPrograms } from './program-module.ts';

export const krewModule = {
  cache: 'krew',
  folder: join(import.meta.dirname, 'krew'),
  programs: {
    krew: 'sigs.k8s.io/krew/cmd/krew',
    'validate-krew-manifest': 'sigs.k8s.io/krew/cmd/validate-krew-manifest',
  },
} as const;

interface KrewPrograms {
  readonly krew: string;
  readonly validator: string;
}

/** The programs, or the reason why they are missing. */
export function findKrew(): KrewPrograms | { readonly missing: string } {
  const found = findPrograms(krewModule);
  if ('missing' in found) return found;
  return { krew: found.krew, validator: found['validate-krew-manifest'] };
}
