{{/* Labels of a component: (dict "root" $ "component" "gateway"). */}}
{{- define "postroom.selector" -}}
app.kubernetes.io/name: postroom
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "postroom.labels" -}}
{{ include "postroom.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "postroom.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "postroom.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "postroom.podSecurity" -}}
runAsNonRoot: true
# The user of the image, for whom its compile cache is.
runAsUser: 65532
runAsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* A Deployment: root, component, program, replicas (nil if something scales it), resources, env, ports, tlsSecretName. */}}
{{- define "postroom.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels: {{- include "postroom.labels" . | nindent 4 }}
spec:
  {{- with .replicas }}
  replicas: {{ . }}
  {{- end }}
  revisionHistoryLimit: 3
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  selector:
    matchLabels: {{- include "postroom.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{- include "postroom.labels" . | nindent 8 }}
      annotations:
        # A change of the settings restarts the pods.
        checksum/settings: {{ .root.Values.settings | toJson | sha256sum }}
        {{- with .root.Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
      securityContext: {{- include "postroom.podSecurity" . | nindent 8 }}
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .root.Values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .root.Values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if .root.Values.topologySpread }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "postroom.selector" . | nindent 14 }}
      {{- end }}
      containers:
        - name: {{ .program }}
          image: {{ include "postroom.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: [{{ .program }}]
          securityContext: {{- include "postroom.containerSecurity" . | nindent 12 }}
          envFrom:
            - configMapRef:
                name: {{ .root.Release.Name }}-settings
            - secretRef:
                name: {{ .root.Values.secretName }}
          env:
            - name: BUILD_ID
              value: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
            {{- if eq .program "worker" }}
            - name: IN_FLIGHT_JOURNAL
              value: /var/lib/postroom
            {{- end }}
            {{- range $name, $value := .env }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
          ports:
            {{- range $name, $port := .ports }}
            - name: {{ $name }}
              containerPort: {{ $port }}
            {{- end }}
            - name: admin
              containerPort: {{ .root.Values.adminPort }}
          startupProbe:
            httpGet: { path: /livez, port: admin }
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /livez, port: admin }
            periodSeconds: 10
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: admin }
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          lifecycle:
            preStop:
              # The endpoints lose the pod while it still serves.
              sleep:
                seconds: {{ .root.Values.preStopSeconds }}
          resources: {{- toYaml .resources | nindent 12 }}
          {{- with .tlsSecretName }}
          volumeMounts:
            - name: tls
              mountPath: /etc/postroom/tls
              readOnly: true
      volumes:
        - name: tls
          secret:
            secretName: {{ . }}
          {{- end }}
          {{- if eq .program "worker" }}
          volumeMounts:
            - name: in-flight
              mountPath: /var/lib/postroom
      volumes:
        # Outlives the container, so that a worker that is killed and restarted knows what it had sent.
        - name: in-flight
          emptyDir:
            medium: Memory
          {{- end }}
{{- end }}

{{/* Keeps one pod of a component during voluntary disruptions. */}}
{{- define "postroom.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels: {{- include "postroom.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "postroom.selector" . | nindent 6 }}
{{- end }}

{{- define "postroom.smtpService" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels: {{- include "postroom.labels" . | nindent 4 }}
  {{- with .values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .values.service.type }}
  {{- if eq .values.service.type "LoadBalancer" }}
  # Keeps the clients' addresses.
  externalTrafficPolicy: Local
  {{- end }}
  selector: {{- include "postroom.selector" . | nindent 4 }}
  ports:
    - name: smtp
      port: {{ .values.service.port }}
      targetPort: smtp
{{- end }}

{{/* A Job that Helm runs as a hook: root, component, hook, args, settings (whether the ConfigMap exists by then), env, resources. */}}
{{- define "postroom.job" -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels: {{- include "postroom.labels" . | nindent 4 }}
  annotations:
    helm.sh/hook: {{ .hook }}
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  backoffLimit: 5
  activeDeadlineSeconds: 3600
  template:
    metadata:
      labels: {{- include "postroom.labels" . | nindent 8 }}
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      securityContext: {{- include "postroom.podSecurity" . | nindent 8 }}
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "postroom.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: {{ .args | toJson }}
          securityContext: {{- include "postroom.containerSecurity" . | nindent 12 }}
          envFrom:
            {{- if .settings }}
            - configMapRef:
                name: {{ .root.Release.Name }}-settings
            {{- end }}
            - secretRef:
                name: {{ .root.Values.secretName }}
          {{- with .env }}
          env:
            {{- range $name, $value := . }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
          {{- end }}
          resources: {{- toYaml .resources | nindent 12 }}
{{- end }}
