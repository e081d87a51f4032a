{{/* The groups of rules/*.yaml without disabled alerts, with the configured labels and runbook URLs. */}}
{{- define "nlc.ruleGroups" -}}
{{- $wanted := .Values.metrics.prometheusRule -}}
{{- if not .Values.metrics.enabled -}}
{{- fail "metrics.prometheusRule.enabled: requires metrics.enabled, otherwise the alert for an absent controller fires" -}}
{{- end -}}
{{- $known := list -}}
{{- $groups := list -}}
{{- range $path, $_ := .Files.Glob "rules/*.yaml" -}}
{{- range (fromYaml ($.Files.Get $path)).groups -}}
{{- $rules := list -}}
{{- range .rules -}}
{{- $known = append $known .alert -}}
{{- if not (has .alert $wanted.disabled) -}}
{{- $annotations := .annotations -}}
{{- if $wanted.runbookUrl -}}
{{- $annotations = merge (dict "runbook_url" (printf "%s/%s.md" (trimSuffix "/" $wanted.runbookUrl) .alert)) .annotations -}}
{{- end -}}
{{- $labels := merge (dict) $wanted.alertLabels .labels -}}
{{- $rules = append $rules (merge (dict "labels" $labels "annotations" $annotations) .) -}}
{{- end -}}
{{- end -}}
{{- if $rules }}{{ $groups = append $groups (dict "name" .name "rules" $rules) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $wanted.disabled -}}
{{- if not (has . $known) }}{{ fail (printf "metrics.prometheusRule.disabled: unknown alert %s" .) }}{{ end -}}
{{- end -}}
{{- toYaml (dict "groups" $groups) -}}
{{- end -}}
