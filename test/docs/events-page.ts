// docs/events.md: what is told to people, from the functions that make it.
import type { EventDraft } from '../../src/api/event.ts';
import { controllerEvents, type EventRow, kubeletEvents } from './event-rows.ts';

const introduction = `# Events

What \`nlc controller\` and the hollow kubelets tell as Kubernetes Events, made from the code by \`npm run docs\`. Capitals and numbers
stand for what varies.

\`\`\`bash
kubectl get events --all-namespaces --field-selector source=node-controller
kubectl get events --namespace default --field-selector involvedObject.kind=Namespace   # of the whole cluster
kubectl describe node NODE
\`\`\`

- Only the leader tells, and telling is never waited for: an event may be missing although the act was done.
  \`node_lifecycle_events_dropped_total\` counts those that were not told, by why.
- Similar events are combined and repeats counted, as client-go does: from each source 25 about one object, then one every five
  minutes; from the tenth of one kind within ten minutes they are one. With \`--events-api=events.k8s.io\` repeats become a series.
  ([0024](decisions/0024-two-apis-for-events.md))
- Events about nodes and namespaces stand in the namespace \`default\`, those about pods beside their pods. The API server keeps them
  for an hour unless it is told otherwise (\`--event-ttl\` of kube-apiserver).
- The component is \`source.component\` in core/v1, \`reportingController\` in events.k8s.io/v1.
- What kube-controller-manager tells too has its words; where the two differ: [differences](differences.md#events).
`;

const ofKubelets = `Of \`nlc hollow-nodes\`, in the words of kubelets of 1.36, and of 1.8 with \`--profile=classic\`. \`--events=false\` switches them off,
\`--event-qps\` and \`--event-burst\` hold them back. A condition of one's own tells \`NodeHasCONDITION\` and \`NodeHasNoCONDITION\`.
`;

export function eventsPage(): string {
  return [
    introduction,
    '## The controller\n',
    tableOf(controllerEvents),
    '## The hollow kubelet\n',
    ofKubelets,
    tableOf(kubeletEvents),
  ]
    .join('\n')
    .replace(/\n+$/u, '\n');
}

function tableOf(rows: readonly EventRow[]): string {
  const heading = [
    '| reason | type | component | regarding | message | when |',
    '| --- | --- | --- | --- | --- | --- |',
  ];
  return [...heading, ...rows.map(lineOf), ''].join('\n');
}

function lineOf({ component, draft, when }: EventRow): string {
  const { reason, type, message } = draft;
  return `| \`${reason}\` | ${type} | \`${component}\` | ${regarding(draft)} | ${message.replaceAll('|', '\\|')} | ${when} |`;
}

function regarding({ about }: EventDraft): string {
  const named = about.name === about.name?.toUpperCase() ? '' : ` \`${about.name}\``;
  return `${about.kind}${named}${about.fieldPath === undefined ? '' : ', its container'}`;
}
