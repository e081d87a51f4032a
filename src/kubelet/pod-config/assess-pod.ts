/** Is this a pod that an API server would take (upstream `validation.ValidatePodCreate`)? Its defaults are filled in. */
import { FieldReader } from '../../api/field-reader.ts';
import { isAbsent, type JsonMap, listOf, mapOf } from '../../api/json-map.ts';
import { isDnsLabel } from '../../api/names.ts';
import { assessContainers, oneOf } from './assess-containers.ts';
import { assessLabels, assessMetadata, dnsLabelText } from './assess-metadata.ts';
import { assessTolerations } from './assess-tolerations.ts';
import { assessVolumes } from './assess-volumes.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'];
const deadlineSecondsMax = 2 ** 31 - 1;

/** Each flaw as `field: got …; accepted: …`; none for a pod that is all right. */
export function assessPod(pod: JsonMap): readonly string[] {
  const fields = new FieldReader();
  assessMetadata(fields, fields.part('metadata', pod['metadata']));
  const spec = fields.part('spec', pod['spec']);
  assessContainers(fields, spec, assessVolumes(fields, spec['volumes']));
  oneOf(fields, 'spec.restartPolicy', spec['restartPolicy'], restartPolicies);
  assessTimes(fields, spec);
  assessNetwork(fields, spec);
  assessTolerations(fields, spec['tolerations']);
  assessLabels(fields, 'spec.nodeSelector', spec['nodeSelector']);
  assessUnfit(fields, spec);
  return fields.flaws ?? [];
}

function assessTimes(fields: FieldReader, spec: JsonMap): void {
  const grace = fields.whole('spec.terminationGracePeriodSeconds', spec['terminationGracePeriodSeconds']);
  if (grace !== undefined && grace < 0) fields.refuse('spec.terminationGracePeriodSeconds', grace, '0 or more');
  const deadline = fields.whole('spec.activeDeadlineSeconds', spec['activeDeadlineSeconds']);
  if (deadline !== undefined && (deadline < 1 || deadline > deadlineSecondsMax))
    fields.refuse('spec.activeDeadlineSeconds', deadline, `1 to ${deadlineSecondsMax}`);
  fields.whole('spec.priority', spec['priority']);
}

function assessNetwork(fields: FieldReader, spec: JsonMap): void {
  oneOf(fields, 'spec.dnsPolicy', spec['dnsPolicy'], dnsPolicies);
  if (spec['dnsPolicy'] === 'None' && listOf(mapOf(spec['dnsConfig'])['nameservers']).length === 0)
    fields.refuse('spec.dnsConfig.nameservers', undefined, "one or more, as dnsPolicy is 'None'");
  for (const field of ['hostname', 'subdomain']) {
    const name = fields.text(`spec.${field}`, spec[field]);
    if (name !== '' && !isDnsLabel(name)) fields.refuse(`spec.${field}`, name, dnsLabelText);
  }
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace'])
    fields.flag(`spec.${field}`, spec[field]);
  if (spec['hostPID'] === true && spec['shareProcessNamespace'] === true)
    fields.refuse('spec.shareProcessNamespace', true, 'false, as hostPID is true');
}

/** What a pod cannot be created with, or not one that is bound to a node. */
function assessUnfit(fields: FieldReader, spec: JsonMap): void {
  for (const field of ['ephemeralContainers', 'schedulingGates']) {
    const value = spec[field];
    if (!isAbsent(value) && !(Array.isArray(value) && value.length === 0))
      fields.refuse(`spec.${field}`, value, 'nothing');
  }
}
