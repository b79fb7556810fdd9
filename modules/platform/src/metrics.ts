// What modules and programs measure with.
export { Counter, Gauge, Histogram, register } from 'prom-client';
export { measurePool, renderMetrics } from '@postroom/observability';
export { MAX_DUE, measureQueues, type Queue, type QueueReading } from './queue-metrics.ts';
