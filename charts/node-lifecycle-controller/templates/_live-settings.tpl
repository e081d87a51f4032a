{{/* Settings that a running controller takes up: written by `npm run docs`. */}}
{{- define "nlc.liveSettings" -}}
["podEvictionTimeout","terminatedPodGcThreshold","nodeMonitorPeriod","nodeMonitorGracePeriod","nodeStartupGracePeriod","nodeEvictionRate","secondaryNodeEvictionRate","fullDisruptionEvictionRate","podMarkingRate","controlPlanePathFailureHold","largeClusterSizeThreshold","unhealthyZoneThreshold","v"]
{{- end -}}
