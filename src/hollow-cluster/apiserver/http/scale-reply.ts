import type { OutgoingHttpHeaders } from 'node:http';
import type { KubeObject } from '../../../machinery/api/meta.ts';
import { type IncludeObject, partialMetadata, printTable } from '../printing/table.ts';
import type { MutableJsonMap } from '../select-field.ts';
import type { ResponseForm } from './accept.ts';
import { asKubeObject } from './presenter.ts';
import { objectReply, type Reply } from './reply.ts';

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;

interface ScaleForm extends ResponseForm {
  readonly includeObject: IncludeObject;
}

/** A Scale in the form that the client requested. */
export function scaleReply(scale: MutableJsonMap, form: ScaleForm, nowMs: number, headers: OutgoingHttpHeaders): Reply {
  return objectReply(200, { ...formOf(asKubeObject(scale, 'the Scale'), form, nowMs) }, form.format, headers);
}

function formOf(scale: KubeObject, { as, version, includeObject }: ScaleForm, nowMs: number): object {
  if (as === 'object') return scale;
  if (as === 'partial') return partialMetadata(scale.metadata, version);
  const { resourceVersion = '' } = scale.metadata;
  return printTable(scaleKind, [scale], { resourceVersion }, { nowMs, version, includeObject });
}
