// What modules and programs measure with.
export { Counter, Gauge, Histogram, register } from 'prom-client';
export { renderMetrics } from './metrics-registry.ts';
export { measurePool } from './pool-metrics.ts';
export { MAX_DUE, measureQueues, type Queue, type QueueReading } from './queue-metrics.ts';
