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
{{- required "serviceAccount.name: required when serviceAccount.create is false" .Values.serviceAccount.name -}}
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

{{/* Whether --controllers selects one of `names`: "true" or empty. The first entry that names a controller decides. */}}
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

{{/* The older eviction mode: "true" or empty. */}}
{{- define "nlc.evictionMode" -}}
{{- $gates := default dict .Values.config.featureGates -}}
{{- if eq (toString (get $gates "TaintBasedEvictions")) "false" }}true{{ end -}}
{{- end -}}

{{/* The value of --controllers for each mode. */}}
{{- define "nlc.controllersOfMode" -}}
{{- get (dict "replace" "*" "detector-only" "node-lifecycle-controller" "evictor-only" "taint-eviction-controller" "shadow" "*") .Values.mode -}}
{{- end -}}

{{- define "nlc.modeMeaning" -}}
{{- if eq .Values.mode "replace" -}}
it detects and evicts in place of kube-controller-manager.
{{- else if eq .Values.mode "detector-only" -}}
it detects and taints in place of kube-controller-manager, which evicts.
{{- else if eq .Values.mode "evictor-only" -}}
it evicts in place of kube-controller-manager, which detects and taints.
{{- else -}}
it writes nothing, and compares what it would have done with what kube-controller-manager does.
{{- end -}}
{{- end -}}

{{/* The value of --controllers: from `config`, checked against the mode by nlc.check, or that of the mode. */}}
{{- define "nlc.controllers" -}}
{{- default (include "nlc.controllersOfMode" .) .Values.config.controllers -}}
{{- end -}}

{{/* Whether nodes without heartbeats may be asked whether they answer: "true" or empty. */}}
{{- define "nlc.probes" -}}
{{- if and .Values.earlyDetection.enabled (include "nlc.detects" .) (include "nlc.writes" .) }}true{{ end -}}
{{- end -}}

{{/* Not in shadow mode: "true" or empty. */}}
{{- define "nlc.writes" -}}
{{- if ne .Values.mode "shadow" }}true{{ end -}}
{{- end -}}

{{- define "nlc.elects" -}}
{{- if and .Values.leaderElection.enabled (include "nlc.writes" .) }}true{{ end -}}
{{- end -}}

{{- define "nlc.replicas" -}}
{{- if include "nlc.writes" . }}{{ .Values.replicas }}{{ else }}{{ min 1 .Values.replicas }}{{ end -}}
{{- end -}}

{{/* A shadow has one replica, so never a DaemonSet. */}}
{{- define "nlc.kind" -}}
{{- if include "nlc.writes" . }}{{ .Values.kind }}{{ else }}Deployment{{ end -}}
{{- end -}}

{{/* A DaemonSet's pods are bound to their nodes: they cannot be placed on a dead node instead of a living one. */}}
{{- define "nlc.tolerations" -}}
{{- $unreachable := dict "key" "node.kubernetes.io/unreachable" "operator" "Exists" "effect" "NoSchedule" -}}
{{- $bound := ternary (list $unreachable) list (eq (include "nlc.kind" .) "DaemonSet") -}}
{{- toYaml (concat (default list .Values.tolerations) (default list .Values.ownTaintTolerations) $bound) -}}
{{- end -}}

{{- define "nlc.detects" -}}
{{- include "nlc.selected" (dict "list" (include "nlc.controllers" .) "names" (list "node-lifecycle-controller" "nodelifecycle") "default" true) -}}
{{- end -}}

{{/* As selected by name, independent of the eviction mode. */}}
{{- define "nlc.namesEvictor" -}}
{{- include "nlc.selected" (dict "list" (include "nlc.controllers" .) "names" (list "taint-eviction-controller") "default" true) -}}
{{- end -}}

{{- define "nlc.evictsByTaint" -}}
{{- if not (include "nlc.evictionMode" .) }}{{ include "nlc.namesEvictor" . }}{{ end -}}
{{- end -}}

{{- define "nlc.collects" -}}
{{- include "nlc.selected" (dict "list" (include "nlc.controllers" .) "names" (list "pod-garbage-collector-controller" "podgc") "default" false) -}}
{{- end -}}

{{- define "nlc.deletesPods" -}}
{{- if or (include "nlc.evictsByTaint" .) (include "nlc.collects" .) (and (include "nlc.detects" .) (include "nlc.evictionMode" .)) }}true{{ end -}}
{{- end -}}

{{/* A policy evicts pods of reachable nodes by the Eviction API, or an object may: "true" or empty. */}}
{{- define "nlc.evictsReachable" -}}
{{- $uses := dict -}}
{{- range default list .Values.config.policies -}}
{{- if hasKey . "evictReachable" }}{{ $_ := set $uses "any" true }}{{ end -}}
{{- end -}}
{{- if eq .Values.policies.source "crd" }}{{ $_ := set $uses "any" true }}{{ end -}}
{{- if and $uses.any (include "nlc.evictsByTaint" .) }}true{{ end -}}
{{- end -}}

{{- define "nlc.metricsHost" -}}
{{- default (ternary "127.0.0.1" "" .Values.hostNetwork) .Values.metrics.host -}}
{{- end -}}

{{/* Name of the port of the pages. */}}
{{- define "nlc.metricsPortName" -}}
{{- ternary "https-metrics" "metrics" .Values.metrics.secure -}}
{{- end -}}

{{- define "nlc.serves" -}}
{{- if and .Values.metrics.enabled .Values.metrics.secure }}true{{ end -}}
{{- end -}}

{{/* Scrape settings of a monitor for secure pages, without the token. */}}
{{- define "nlc.monitorTls" -}}
scheme: https
tlsConfig:
  {{- with .Values.metrics.tls.secretName }}
  ca:
    secret:
      name: {{ . }}
      key: ca.crt
  serverName: {{ default (printf "%s-metrics.%s.svc" (include "nlc.fullname" $) $.Release.Namespace) $.Values.metrics.tls.serverName }}
  {{- else }}
  insecureSkipVerify: true
  {{- end }}
{{- with .Values.metrics.tokenSecret.name }}
authorization:
  credentials:
    name: {{ . }}
    key: {{ $.Values.metrics.tokenSecret.key }}
{{- end }}
{{- end -}}

{{/* Mount path of the secret with the serving certificate. */}}
{{- define "nlc.tlsFolder" -}}
/etc/node-lifecycle-controller-tls
{{- end -}}

{{- define "nlc.checkSecure" -}}
{{- with .Values.metrics -}}
{{- if and .secure .podMonitor.enabled (not .tokenSecret.name) -}}
{{- fail "metrics.tokenSecret.name: required when metrics.secure and metrics.podMonitor.enabled: a pod monitor cannot send Prometheus' own token" -}}
{{- end -}}
{{- if and .tls.secretName (not .secure) -}}
{{- fail "metrics.tls.secretName: requires metrics.secure, otherwise the certificate is not served" -}}
{{- end -}}
{{- end -}}
{{- range $key := list "tlsCipherSuites" "clientCaFile" -}}
{{- if and (get $.Values.config $key) (not $.Values.metrics.secure) -}}
{{- fail (printf "config.%s: requires metrics.secure" $key) -}}
{{- end -}}
{{- end -}}
{{- range .Values.extraArgs -}}
{{- if regexMatch "^--(no-)?(metrics-secure|tls-cert-file|tls-private-key-file|metrics-bind-address)(=|$)" . -}}
{{- fail (printf "extraArgs: %s is not accepted, roles, ports and monitors follow from the values; set metrics" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The config file: `config`, and the settings that follow from other values. */}}
{{- define "nlc.configFile" -}}
{{- $own := dict
  "apiVersion" "nodelifecycle/v1alpha1"
  "kind" "ControllerConfiguration"
  "leaderElect" (eq (include "nlc.elects" .) "true")
  "leaderElectLeaseDuration" .Values.leaderElection.leaseDuration
  "leaderElectRenewDeadline" .Values.leaderElection.renewDeadline
  "leaderElectRetryPeriod" .Values.leaderElection.retryPeriod
  "leaderElectResourceName" .Values.leaderElection.resourceName
  "leaderElectResourceNamespace" .Values.leaderElection.resourceNamespace
  "healthProbeBindAddress" (printf ":%d" (int .Values.health.port))
  "metricsBindAddress" (ternary (printf "%s:%d" (include "nlc.metricsHost" .) (int .Values.metrics.port)) "0" .Values.metrics.enabled)
  "v" .Values.logLevel
-}}
{{- if and .Values.metrics.enabled .Values.metrics.service.create (not .Values.metrics.secure) -}}
{{- $service := printf "%s-metrics" (include "nlc.fullname" .) -}}
{{- $inNamespace := printf "%s.%s" $service .Release.Namespace -}}
{{- $_ := set $own "allowedHosts" (printf "%s,%s,%s.svc,%s.svc.cluster.local" $service $inNamespace $inNamespace $inNamespace) -}}
{{- end -}}
{{- range $key, $value := .Values.config -}}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $own $key $value }}{{ end -}}
{{- end -}}
{{- $_ := set $own "controllers" (include "nlc.controllers" .) -}}
{{- if not (include "nlc.writes" .) }}{{ $_ := set $own "shadow" true }}{{ end -}}
{{- if eq .Values.policies.source "crd" }}{{ $_ := set $own "policySource" "crd" }}{{ end -}}
{{- if include "nlc.serves" . }}{{ $_ := set $own "metricsSecure" true }}{{ end -}}
{{- if and (include "nlc.serves" .) .Values.metrics.tls.secretName -}}
{{- $_ := set $own "tlsCertFile" (printf "%s/tls.crt" (include "nlc.tlsFolder" .)) -}}
{{- $_ := set $own "tlsPrivateKeyFile" (printf "%s/tls.key" (include "nlc.tlsFolder" .)) -}}
{{- end -}}
{{- toYaml $own -}}
{{- end -}}

{{/* The settings of the config file that need a restart when they change. */}}
{{- define "nlc.restartingSettings" -}}
{{- $settings := fromYaml (include "nlc.configFile" .) -}}
{{- range fromJsonArray (include "nlc.liveSettings" .) }}{{ $_ := unset $settings . }}{{ end -}}
{{- toYaml $settings -}}
{{- end -}}

{{- define "nlc.fittingMode" -}}
{{- if and (include "nlc.detects" .) (include "nlc.namesEvictor" .) }}replace or shadow
{{- else if include "nlc.detects" . }}detector-only
{{- else if include "nlc.namesEvictor" . }}evictor-only
{{- end -}}
{{- end -}}

{{/* Roles and replicas follow from the mode, so no other value may contradict it. */}}
{{- define "nlc.checkMode" -}}
{{- $mode := .Values.mode -}}
{{- $fitting := include "nlc.fittingMode" . -}}
{{- if eq $fitting "" -}}
{{- fail (printf "config.controllers: must select node-lifecycle-controller or taint-eviction-controller (got %s)" .Values.config.controllers) -}}
{{- end -}}
{{- if not (has $mode (splitList " or " $fitting)) -}}
{{- fail (printf "config.controllers: %s does not match mode: %s, which runs %s; remove it or set mode to %s" .Values.config.controllers $mode (include "nlc.controllersOfMode" .) $fitting) -}}
{{- end -}}
{{- if and (include "nlc.evictionMode" .) (ne $mode "replace") -}}
{{- fail (printf "config.featureGates: TaintBasedEvictions=false deletes pods without a taint and requires mode: replace (got mode: %s)" $mode) -}}
{{- end -}}
{{- /* Before 1.33 the index of pods by node, which the taint eviction controller uses, was created by the node lifecycle controller. */}}
{{- if and (eq $mode "detector-only") (semverCompare "<1.33.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "mode: detector-only requires Kubernetes 1.33: the taint-eviction-controller of %s finds no pods while node-lifecycle-controller is disabled" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if and (eq $mode "shadow") .Values.config.watchCanary -}}
{{- fail "config.watchCanary: writes a lease, and mode: shadow writes nothing" -}}
{{- end -}}
{{- if and (eq $mode "shadow") (include "nlc.collects" .) -}}
{{- fail "config.controllers: the pod garbage collector has no shadow mode; remove pod-garbage-collector-controller" -}}
{{- end -}}
{{- range .Values.extraArgs -}}
{{- if regexMatch "^--(no-)?(controllers|shadow|leader-elect|watch-canary|wait-for-eviction-responders|namespace-autonomy|feature-gates|events-api|policy-source)(=|$)" . -}}
{{- fail (printf "extraArgs: %s is not accepted, roles follow from the values; set mode, leaderElection, policies or config" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails on invalid combinations of values before anything is applied. */}}
{{- define "nlc.check" -}}
{{- include "nlc.checkMode" . -}}
{{- include "nlc.checkSecure" . -}}
{{- if and (eq .Values.policies.source "crd") .Values.config.policies -}}
{{- fail "config.policies: must be empty with policies.source: crd, where policies are NodeLifecyclePolicy objects; nlc validate FILE --output=crd prints those of a config file" -}}
{{- end -}}
{{- if and (eq (include "nlc.kind" .) "DaemonSet") (not .Values.leaderElection.enabled) -}}
{{- fail "kind: DaemonSet requires leaderElection.enabled, otherwise the replica on every node acts" -}}
{{- end -}}
{{- if and (gt (int (include "nlc.replicas" .)) 1) (not .Values.leaderElection.enabled) -}}
{{- fail "replicas: more than one requires leaderElection.enabled, otherwise every replica acts" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not (and .Values.metrics.enabled .Values.metrics.service.create)) -}}
{{- fail "metrics.serviceMonitor.enabled: requires metrics.enabled and metrics.service.create" -}}
{{- end -}}
{{- if and .Values.metrics.podMonitor.enabled (not .Values.metrics.enabled) -}}
{{- fail "metrics.podMonitor.enabled: requires metrics.enabled" -}}
{{- end -}}
{{- $monitored := or .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled -}}
{{- if and $monitored .Values.networkPolicy.create (not .Values.networkPolicy.metricsFrom) -}}
{{- fail "networkPolicy.metricsFrom: must name the peers of Prometheus, otherwise the network policy blocks it" -}}
{{- end -}}
{{- end -}}
