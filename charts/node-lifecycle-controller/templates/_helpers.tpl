{{- define "nlc.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "nlc.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "nlc.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "nlc.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "nlc.selectorLabels" -}}
app.kubernetes.io/name: {{ include "nlc.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "nlc.labels" -}}
{{ include "nlc.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: controller
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "nlc.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "nlc.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name: needed when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "nlc.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{- printf "%s@%s" .repository .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Of --controllers: "true" or nothing. Of several words about one controller the first counts. */}}
{{- define "nlc.selected" -}}
{{- $names := .names -}}
{{- $seen := dict -}}
{{- range splitList "," .list -}}
{{- $word := trim . -}}
{{- $name := trimPrefix "-" $word -}}
{{- if eq $word "*" }}{{ $_ := set $seen "all" true }}{{ end -}}
{{- if and (has $name $names) (not (hasKey $seen "named")) }}{{ $_ := set $seen "named" (not (hasPrefix "-" $word)) }}{{ end -}}
{{- end -}}
{{- if hasKey $seen "named" -}}
{{- if $seen.named }}true{{ end -}}
{{- else if and .default $seen.all -}}
true
{{- end -}}
{{- end -}}

{{/* The older eviction mode: "true" or nothing. */}}
{{- define "nlc.evictionMode" -}}
{{- $gates := default dict .Values.config.featureGates -}}
{{- if eq (toString (get $gates "TaintBasedEvictions")) "false" }}true{{ end -}}
{{- end -}}

{{- define "nlc.detects" -}}
{{- include "nlc.selected" (dict "list" .Values.config.controllers "names" (list "node-lifecycle-controller" "nodelifecycle") "default" true) -}}
{{- end -}}

{{- define "nlc.evictsByTaint" -}}
{{- if not (include "nlc.evictionMode" .) -}}
{{- include "nlc.selected" (dict "list" .Values.config.controllers "names" (list "taint-eviction-controller") "default" true) -}}
{{- end -}}
{{- end -}}

{{- define "nlc.collects" -}}
{{- include "nlc.selected" (dict "list" .Values.config.controllers "names" (list "pod-garbage-collector-controller" "podgc") "default" false) -}}
{{- end -}}

{{- define "nlc.deletesPods" -}}
{{- if or (include "nlc.evictsByTaint" .) (include "nlc.collects" .) (and (include "nlc.detects" .) (include "nlc.evictionMode" .)) }}true{{ end -}}
{{- end -}}

{{- define "nlc.metricsHost" -}}
{{- default (ternary "127.0.0.1" "" .Values.hostNetwork) .Values.metrics.host -}}
{{- end -}}

{{/* The config file: `config`, and the settings that other values own. */}}
{{- define "nlc.configFile" -}}
{{- $own := dict
  "apiVersion" "nodelifecycle/v1alpha1"
  "kind" "ControllerConfiguration"
  "leaderElect" .Values.leaderElection.enabled
  "leaderElectLeaseDuration" .Values.leaderElection.leaseDuration
  "leaderElectRenewDeadline" .Values.leaderElection.renewDeadline
  "leaderElectRetryPeriod" .Values.leaderElection.retryPeriod
  "leaderElectResourceName" .Values.leaderElection.resourceName
  "leaderElectResourceNamespace" .Values.leaderElection.resourceNamespace
  "healthProbeBindAddress" (printf ":%d" (int .Values.health.port))
  "metricsBindAddress" (ternary (printf "%s:%d" (include "nlc.metricsHost" .) (int .Values.metrics.port)) "0" .Values.metrics.enabled)
  "v" .Values.logLevel
-}}
{{- range $key, $value := .Values.config -}}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $own $key $value }}{{ end -}}
{{- end -}}
{{- toYaml $own -}}
{{- end -}}

{{/* What is not possible, said before anything is applied. */}}
{{- define "nlc.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection.enabled) -}}
{{- fail "replicas: more than one needs leaderElection.enabled, otherwise each of them acts" -}}
{{- end -}}
{{- if not (or (include "nlc.detects" .) (include "nlc.evictsByTaint" .) (include "nlc.collects" .)) -}}
{{- fail "config.controllers: selects nothing that runs" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not (and .Values.metrics.enabled .Values.metrics.service.create)) -}}
{{- fail "metrics.serviceMonitor.enabled: needs metrics.enabled and metrics.service.create" -}}
{{- end -}}
{{- if and .Values.metrics.podMonitor.enabled (not .Values.metrics.enabled) -}}
{{- fail "metrics.podMonitor.enabled: needs metrics.enabled" -}}
{{- end -}}
{{- $monitored := or .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled -}}
{{- if and $monitored .Values.networkPolicy.create (not .Values.networkPolicy.metricsFrom) -}}
{{- fail "networkPolicy.metricsFrom: name where Prometheus runs, otherwise the network policy keeps it out" -}}
{{- end -}}
{{- end -}}
