import { collectDefaultMetrics, Counter, Gauge, register } from 'prom-client';
import { logger } from './logger.ts';

/** Counts the readings that a scrape could not get. */
export const metricsErrors = new Counter({
  name: 'postroom_metrics_errors_total',
  help: 'Readings for this page that failed or took too long; their metrics are missing from it.',
  labelNames: ['kind'],
});

const certificateExpiry = new Gauge({
  name: 'postroom_certificate_expiry_timestamp_seconds',
  help: 'When the TLS certificate that a server presents expires.',
  labelNames: ['server'],
});

/** Reports the end of the validity of the certificate that a server presents. */
export function measureCertificate(server: string, expiresAt: Date): void {
  certificateExpiry.set({ server }, expiresAt.getTime() / 1000);
}

/** Adds the metrics of the process, with its program and build. */
export function measureProcess(labels: Record<'program' | 'version' | 'build' | 'node', string>): void {
  collectDefaultMetrics();
  new Gauge({
    name: 'postroom_build_info',
    help: 'The running build; always 1.',
    labelNames: Object.keys(labels),
  }).set(labels, 1);
}

/** All metrics in Prometheus' text format, followed by those of other sources in the same format. */
export async function renderMetrics(sources: readonly (() => Promise<string>)[] = []): Promise<string> {
  const own = await register.metrics();
  const others = await Promise.all(
    sources.map((read) =>
      read().catch((error: unknown) => {
        metricsErrors.inc({ kind: 'source' });
        logger.warn({ err: error }, 'metrics of another source not read');
        return '';
      }),
    ),
  );
  return [own, ...others].filter((text) => text !== '').join('\n');
}

export const METRICS_TYPE = register.contentType;
