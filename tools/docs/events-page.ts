// docs/events.md: all Events, from the functions that create them.
import type { EventDraft } from '../../src/machinery/api/event.ts';
import { controllerEvents, type EventRow, kubeletEvents, schedulerEvents } from './event-rows.ts';

const introduction = `# Events

This page lists the Events that \`nlc controller\`, the hollow kubelets and the scheduler stand-in record. It is generated from the code by \`npm run docs\`.
Capital letters and numbers are placeholders.

\`\`\`bash
kubectl get events --all-namespaces --field-selector source=node-controller
kubectl get events --namespace default --field-selector involvedObject.kind=Namespace   # cluster-wide Events
kubectl describe node NODE
\`\`\`

- Only the leader records Events, asynchronously: an Event may be missing although the act was done.
  \`node_lifecycle_events_dropped_total\` counts the Events that could not be delivered, by reason.
- Similar Events are aggregated and repeats counted, as in client-go: 25 per source and object, then one every five minutes; from
  the tenth similar Event within ten minutes they are aggregated. With \`--events-api=events.k8s.io\` repeats become a series.
  ([0024](decisions/0024-two-apis-for-events.md))
- Events about nodes and namespaces are in the namespace \`default\`, those about pods in the namespace of the pod. The API server
  keeps them for an hour by default (\`--event-ttl\` of kube-apiserver).
- The component is \`source.component\` in core/v1, \`reportingController\` in events.k8s.io/v1.
- Events that kube-controller-manager records too have the same text, except for the [differences](differences.md#events).
`;

const ofKubelets = `Events of \`nlc hollow-nodes\`, with the texts of kubelet 1.37. \`--events=false\` disables
them, \`--event-qps\` and \`--event-burst\` limit their rate. Custom conditions have \`NodeHasCONDITION\` and \`NodeHasNoCONDITION\`.
`;

export function eventsPage(): string {
  return [
    introduction,
    '## The controller\n',
    tableOf(controllerEvents),
    '## The hollow kubelet\n',
    ofKubelets,
    tableOf(kubeletEvents),
    '## The scheduler stand-in\n',
    'Events of `nlc apiserver --scheduler`, with the texts of kube-scheduler 1.37.\n',
    tableOf(schedulerEvents),
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
