{{- /* One wattled measures a node, so there is one release for a cluster, and names are fixed. */ -}}
{{- define "wattled.labels" -}}
app.kubernetes.io/name: wattled
{{- end -}}
