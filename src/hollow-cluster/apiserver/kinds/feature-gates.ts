/** Feature gates of kube-apiserver that the embedded server has. All are off by default, as there. */
export const serverGates = ['TaintTolerationComparisonOperators'] as const;
export type ServerGate = (typeof serverGates)[number];
