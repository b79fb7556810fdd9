import { Gauge, type GaugeConfiguration } from 'prom-client';
import type pg from 'pg';

const pools = new Map<string, pg.Pool>();

const register = <Label extends string>(gauge: GaugeConfiguration<Label>) => new Gauge(gauge);

register({
  name: 'postroom_database_connections',
  help: 'Open database connections by pool and state: in use or idle.',
  labelNames: ['pool', 'state'],
  collect() {
    for (const [name, { totalCount, idleCount }] of pools) {
      this.set({ pool: name, state: 'used' }, totalCount - idleCount);
      this.set({ pool: name, state: 'idle' }, idleCount);
    }
  },
});
register({
  name: 'postroom_database_connections_max',
  help: 'The most connections that a pool opens.',
  labelNames: ['pool'],
  collect() {
    for (const [name, { options }] of pools) this.set({ pool: name }, options.max);
  },
});
register({
  name: 'postroom_database_waiting',
  help: 'Callers that wait for a connection of a pool.',
  labelNames: ['pool'],
  collect() {
    for (const [name, { waitingCount }] of pools) this.set({ pool: name }, waitingCount);
  },
});

/** Reports a pool's connections under a name. */
export function measurePool(name: string, pool: pg.Pool): void {
  pools.set(name, pool);
}
