/** Seeds that once broke an invariant, and what they found. Each is run by `npm run test:sim` and in CI. */
export const regressionSeeds: readonly { readonly seed: number; readonly found: string }[] = [
  {
    seed: 45,
    found:
      'after a restore of etcd the caches of nodes and pods kept the state before it for as long as they were quiet',
  },
  { seed: 1019, found: 'in a full disruption the NoExecute taint of a node was removed by two requests at once' },
];
