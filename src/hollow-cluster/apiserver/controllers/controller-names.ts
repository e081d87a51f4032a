/** The names of the controllers that the server can run itself: those of kube-controller-manager. */
export const serverControllerNames = [
  'clusterrole-aggregation-controller',
  'disruption-controller',
  'namespace-controller',
  'serviceaccount-controller',
] as const;

export type ServerControllerName = (typeof serverControllerNames)[number];
