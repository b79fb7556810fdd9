import {
  type Attributes,
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { config } from '@postroom/settings/config';
import { identity } from './identity.ts';
import { logger } from './logger.ts';

export interface SpanOptions {
  /** `internal` by default. */
  kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** The `traceparent` (W3C Trace Context) of the work that caused this; by default the span that is active. */
  parent?: string | null | undefined;
  attributes?: Attributes;
  /** Other spans that this one continues, without being their child. */
  links?: readonly SpanContext[];
}

export type { SpanContext };

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** Set while traces are exported. Without it nothing here does anything, or loads the SDK. */
let isTracing = false;

/**
 * Exports traces if `OTEL_EXPORTER_OTLP_ENDPOINT` is set; the SDK reads the other variables of OpenTelemetry. Call it before
 * the first span.
 * @returns a function that exports what is left.
 */
export async function startTracing(): Promise<() => Promise<void>> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined) return () => Promise.resolve();
  const [
    { BatchSpanProcessor, ParentBasedSampler, TracerProvider, TraceIdRatioBasedSampler },
    exporter,
    resources,
    hooks,
    core,
  ] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/core'),
  ]);
  const provider = new TracerProvider({
    resource: resources.resourceFromAttributes({
      'service.name': `postroom-${identity.service}`,
      'service.version': identity.version,
      'service.instance.id': identity.instance,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(config.TRACES_SAMPLE_RATIO) }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new exporter.OTLPTraceExporter({ url: `${endpoint}/v1/traces` }) }),
    ],
  });
  context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  isTracing = true;
  return () =>
    provider.shutdown().catch((error: unknown) => logger.warn({ err: error }, 'the last traces were not exported'));
}

/** Runs `work` in a span. A rejection is recorded as the span's error. */
export async function inSpan<T>(
  name: string,
  { kind = 'internal', parent, attributes = {}, links = [] }: SpanOptions,
  work: (span: Pick<Span, 'setAttributes' | 'updateName' | 'spanContext'> | undefined) => Promise<T>,
): Promise<T> {
  if (!isTracing) return work(undefined);
  const from = contextOf(parent);
  const options = { kind: KINDS[kind], attributes, links: links.map((context) => ({ context })) };
  const span = trace.getTracer('postroom').startSpan(name, options, from);
  try {
    return await context.with(trace.setSpan(from, span), () => work(span));
  } catch (error) {
    span.recordException(error as Error);
    span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message });
    throw error;
  } finally {
    span.end();
  }
}

function contextOf(parent: string | null | undefined): Context {
  if (parent == null) return context.active();
  return propagation.extract(ROOT_CONTEXT, { traceparent: parent }, defaultTextMapGetter);
}

/** The `traceparent` of the active span, to store with the work that it causes; null without one. */
export function currentTraceparent(): string | null {
  if (!isTracing) return null;
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier, defaultTextMapSetter);
  return carrier.traceparent ?? null;
}
